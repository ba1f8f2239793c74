import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PAGE_WORLDS, TUTORIAL } from './page-worlds.ts'
import { Shell, stepsOf } from './run-page.ts'

// npm run pages: writes the present output below each block of commands that shows one. Read the difference.
const file = join(import.meta.dirname, '../../..', TUTORIAL)
let page = readFileSync(file, 'utf8')
for (const [part, prepare] of PAGE_WORLDS) {
  const home = mkdtempSync(join(tmpdir(), 'bailiwick-page-'))
  try {
    const shell = new Shell(home)
    prepare(shell, home)
    for (const step of stepsOf(page, part)) {
      const { code, output, stderr } = shell.run(step.commands)
      if (code !== step.code || stderr !== '') throw new Error(`${TUTORIAL}:${step.line}: exit code ${code}\n${stderr}`)
      if (output !== step.output.trim())
        page = page.replace(`\`\`\`text\n${step.output}\n\`\`\``, () => `\`\`\`text\n${output}\n\`\`\``)
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
writeFileSync(file, page)
