import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { inTutorial, ON_KIND } from '../../repository/docs/page-worlds.ts'
import { Shell, stepsOf } from '../../repository/docs/run-page.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8')

function newShell(): Shell {
  const home = mkdtempSync(join(tmpdir(), 'bailiwick-page-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return new Shell(home)
}

test('every command of docs/tutorial.md does what the page says', () => {
  const page = read('docs/tutorial.md')
  const on = newShell()
  const steps = stepsOf(page)
  // an output that belongs to no block of commands would be one that nothing compares
  const others = [ON_KIND, 'run by test/repository/docs/setup-task.test.ts'].flatMap(comment => stepsOf(page, comment))
  const shown = [...steps, ...others].filter(({ output }) => output !== '')
  expect(shown.length).toBe(page.match(/^```text$/gm)?.length)
  for (const { line, commands, code, output } of steps) {
    const ran = on.run(commands)
    const hint = 'after a wanted change: npm run pages'
    expect({ line, commands, ...ran }, hint).toEqual({ line, commands, code, output: output.trim(), stderr: '' })
  }
}, 300_000)

/** What a command of README.md answers in a folder without an App or a trail. Any other exits with 0, or with 1 for a no. */
const EXIT_1 = ['bailiwick can-i']

test('every command of the table in README.md runs in the fleet of the tutorial', () => {
  const commands = [...read('README.md').matchAll(/^\| `(bailiwick [^`]+)` \|/gm)].map(([, command = '']) => command)
  expect(commands.length).toBeGreaterThan(10)
  const on = newShell()
  inTutorial(on)
  on.run('cd fleet')
  for (const command of commands) {
    const { code, stderr } = on.run(command)
    expect({ command, code, stderr }).toEqual({
      ...{ command, code: EXIT_1.some(name => command.startsWith(name)) ? 1 : 0, stderr: '' },
    })
  }
}, 300_000)
