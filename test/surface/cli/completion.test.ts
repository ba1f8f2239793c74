import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../../src/surface/cli/commands.ts'
import { commandWords, complete } from '../../../src/surface/cli/complete.ts'
import { run, scratch, write } from './run-main.ts'

const PROGRAM = join(import.meta.dirname, '../../../src/surface/cli/bailiwick.js')

test.each(COMMANDS.map(([name]) => name))('%s takes every option that is completed for it', async name => {
  for (const [option, value] of (await commandWords(name)).options) {
    if (option === '--color' || option === '--help') continue
    const args = value === 'none' ? [option] : [option, typeof value === 'string' ? 'x' : value[0]!]
    const { stderr } = await run(scratch(), name, ...args, '--no-such-option')
    expect(stderr, `${name} ${option}`).not.toContain(`Unknown option '${option}'`)
  }
})

test.each([
  [[], 'bash|zsh|fish is missing. Allowed: bash, zsh, fish. usage:'],
  [['csh'], '"csh" is not known. Allowed: bash, zsh, fish.'],
  [['bsh'], '"bsh" is not known. Allowed: bash, zsh, fish. Did you mean bash?'],
  [['bash', 'zsh'], '"zsh" is an extra argument. usage:'],
])('completion %j is refused', async (args, message) => {
  const { code, stderr } = await run('/', 'completion', ...args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error[usage]: ${message}`)])
})

const CASES: [line: string[], expected: string[]][] = [
  [['com'], ['completion']],
  [['help', 'trai'], ['trail']],
  [['check', '--fl'], ['--fleet']],
  [
    ['check', '-o', ''],
    ['text', 'json', 'sarif', 'github'],
  ],
  [['check', '--output', 'j'], ['json']],
  [['check', '--fleet', 'fl'], [':files']],
  [['onboard', '--password-file', ''], [':files']],
  [['check', '--tenant', 'k'], []],
  [['check', ''], [':folders']],
  [['check', '--verbose', ''], [':folders']],
  [['explain', 'namespace-conf'], ['namespace-confinement']],
  [['explain', 'git-mis'], ['git-missing']],
  [['trail', 'v'], ['verify']],
  [['can-i', '-i'], []],
  [['check', '--color', 'n'], ['never']],
  [['no-such', '--q'], ['--quiet']],
]
test.each(CASES)('%j is completed by %j', async (line, expected) => {
  expect(await complete(line)).toEqual(expected)
  const { code, stdout } = await run('/', '__complete', ...line)
  expect([code, stdout]).toEqual([0, expected.map(word => `${word}\n`).join('')])
})

const isThere = (shell: string) => {
  try {
    execFileSync(shell, ['-c', 'exit 0'])
    return true
  } catch {
    return false
  }
}

describe.skipIf(!isThere('bash'))('in bash', () => {
  test.each([
    ['check --fl', ['--fleet']],
    ['check --fleet fl', ['fleet']],
    ['check -o j', ['json']],
    ['check ', ['fleet']],
  ])('bailiwick %s', async (line, expected) => {
    const home = write(scratch(), { 'fleet/x.yaml': '', 'key.txt': '' })
    symlinkSync(PROGRAM, join(home, 'bailiwick'))
    const { stdout: script } = await run('/', 'completion', 'bash')
    const words = ['bailiwick', ...line.split(' ')].map(word => `'${word}'`)
    const program = `${script}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _bailiwick; printf '%s\\n' "\${COMPREPLY[@]}"`
    const PATH = `${home}:${join(process.execPath, '..')}:${process.env.PATH}`
    const out = execFileSync('bash', ['--norc', '-uc', program], { cwd: home, encoding: 'utf8', env: { PATH } })
    expect(out.split('\n').filter(Boolean)).toEqual(expected)
  })
})

test.skipIf(!isThere('zsh'))('zsh reads the script', async () => {
  const { stdout } = await run('/', 'completion', 'zsh')
  expect(execFileSync('zsh', ['-f', '-c', `${stdout}\nwhence -w _bailiwick`], { encoding: 'utf8' })).toContain(
    'function',
  )
})

test.skipIf(!isThere('fish'))('fish reads the script', async () => {
  const { stdout } = await run('/', 'completion', 'fish')
  expect(
    execFileSync('fish', ['--no-config', '-c', `${stdout}\nfunctions -q _bailiwick; and echo ok`]).toString(),
  ).toBe('ok\n')
})
