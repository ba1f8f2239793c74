import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const directory = mkdtempSync(join(tmpdir(), 'bailiwick-tutorial-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A block of commands, with the exit code and the output that the page says. */
interface Step {
  readonly commands: string
  readonly code: number
  readonly output: string
}

function stepsOf(page: string): readonly Step[] {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```\n(?:\n(Exit code (\d):\n\n)?```text\n(.*?)^```\n)?/gms)]
  return blocks.map(([, commands = '', , code = '0', output = '']) => ({ commands, code: Number(code), output }))
}

test('every command of docs/tutorial.md does what the page says', () => {
  const page = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8')
  const steps = stepsOf(page)
  // a block that the pattern does not find would be one that nobody runs
  expect([page.match(/^```sh$/gm), page.match(/^```text$/gm)].map(found => found?.length)).toEqual([
    steps.length,
    steps.filter(({ output }) => output !== '').length,
  ])
  const command = join(directory, 'bailiwick')
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/src/cli/bailiwick.js' "$@"\n`)
  chmodSync(command, 0o755)
  const person = { NAME: 'Dora', EMAIL: 'dora@acme.example' }
  const identity = Object.entries(person).flatMap(([key, value]) => [
    [`GIT_AUTHOR_${key}`, value],
    [`GIT_COMMITTER_${key}`, value],
  ])
  const env = { PATH: `${directory}:${process.env.PATH}`, HOME: directory, ...Object.fromEntries(identity) }
  let folder = directory
  for (const { commands, code, output } of steps) {
    const script = `${commands}\ncode=$?\npwd > '${directory}/folder'\nexit $code\n`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: folder, env, encoding: 'utf8' })
    expect({ commands, status, stderr, stdout: stdout.trim() }).toEqual({
      ...{ commands, status: code, stderr: '', stdout: output.trim() },
    })
    folder = readFileSync(join(directory, 'folder'), 'utf8').trim()
  }
}, 120_000)
