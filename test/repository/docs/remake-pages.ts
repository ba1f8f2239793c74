import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PAGE_WORLDS } from './page-worlds.ts'
import { Shell, stepsOf } from './run-page.ts'
import { withReadingTimes } from './with-reading-times.ts'

// npm run pages [-- PAGE]: writes the present output below each block of commands that shows one. Read the difference.
const [only] = process.argv.slice(2)
for (const [path, prepare] of Object.entries(PAGE_WORLDS)) {
  if (only !== undefined && path !== only) continue
  const file = join(import.meta.dirname, '../../..', path)
  const home = mkdtempSync(join(tmpdir(), 'bailiwick-page-'))
  try {
    const shell = new Shell(home)
    prepare(shell, home)
    let page = readFileSync(file, 'utf8')
    for (const step of stepsOf(page)) {
      const { code, output, stderr } = shell.run(step.commands)
      if (code !== step.code || stderr !== '') throw new Error(`${path}:${step.line}: exit code ${code}\n${stderr}`)
      if (output !== step.output.trim())
        page = page.replace(`\`\`\`text\n${step.output}\n\`\`\``, () => `\`\`\`text\n${output}\n\`\`\``)
    }
    writeFileSync(file, withReadingTimes(page))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
