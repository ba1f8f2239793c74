import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Shell, stepsOf } from '../docs/run-page.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

function shell(): Shell {
  const home = mkdtempSync(join(tmpdir(), 'bailiwick-page-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return new Shell(home)
}

function runAll(page: string, on: Shell): void {
  const steps = stepsOf(page)
  // an output that belongs to no block of commands would be one that nothing compares
  expect(steps.filter(({ output }) => output !== '').length).toBe(page.match(/^```text$/gm)?.length)
  for (const { line, commands, code, output } of steps) {
    const ran = on.run(commands)
    expect({ line, commands, ...ran }).toEqual({ line, commands, code, output: output.trim(), stderr: '' })
  }
}

/** The fleet of the tutorial with its two tenants, before anything of it is changed. */
function inTutorial(): Shell {
  const on = shell()
  for (const { commands } of stepsOf(read('docs/tutorial.md')).slice(0, 3))
    expect(on.run(commands)).toMatchObject({ code: 0 })
  return on
}

test('every command of docs/tutorial.md does what the page says', () => {
  const page = read('docs/tutorial.md')
  expect(stepsOf(page)).toHaveLength(page.match(/^```sh$/gm)?.length ?? 0)
  runAll(page, shell())
}, 300_000)

test('every command of docs/tasks.md does what the page says', () => {
  const on = inTutorial()
  runAll(read('docs/tasks.md'), on)
}, 300_000)

/** What a command of README.md answers in a folder without an App or a trail. Any other exits with 0, or with 1 for a no. */
const EXIT_1 = ['bailiwick can-i']

test('every command of the table in README.md runs in the fleet of the tutorial', () => {
  const commands = [...read('README.md').matchAll(/^\| `(bailiwick [^`]+)` \|/gm)].map(([, command = '']) => command)
  expect(commands.length).toBeGreaterThan(10)
  const on = inTutorial()
  on.run('cd fleet')
  for (const command of commands) {
    const { code, stderr } = on.run(command)
    expect({ command, code, stderr }).toEqual({
      ...{ command, code: EXIT_1.some(name => command.startsWith(name)) ? 1 : 0, stderr: '' },
    })
  }
}, 300_000)
