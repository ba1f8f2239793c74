import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { completionScript } from '../../src/cli/completion-script.ts'
import { completionWords } from '../../src/cli/completion-words.ts'
import { run, scratch, write } from './run-main.ts'

const words = await completionWords(COMMANDS)
const of = (name: string) => words.find(one => one.name === name)!

test('every command is completed, with the options that its help names', () => {
  expect(words.map(({ name }) => name)).toEqual([...COMMANDS.map(([name]) => name), 'version', 'help'])
  expect(of('check').options.get('-o')).toEqual({ words: ['text', 'json', 'json-lines', 'sarif', 'junit', 'github'] })
  expect(of('check').options.get('--output')).toEqual(of('check').options.get('-o'))
  expect(of('check').options.get('--verbose')).toBe('none')
  expect(of('check').options.get('--fleet')).toBe('path')
  expect(of('check').options.get('--tenant')).toBe('any')
  expect(of('onboard').options.get('--password-file')).toBe('path')
  expect([...of('can-i').options.keys()]).not.toContain('-i')
  expect(of('trail').words).toEqual(['verify', 'show'])
  expect(of('explain').words).toEqual(expect.arrayContaining(['namespace-confinement', 'git-missing']))
})

test.each(COMMANDS.map(([name]) => name))('%s takes every option that is completed for it', async name => {
  for (const [option, value] of of(name).options) {
    if (option === '--color' || option === '--help') continue
    const args = value === 'none' ? [option] : [option, typeof value === 'string' ? 'x' : value.words[0]!]
    const { stderr } = await run(scratch(), name, ...args, '--no-such-option')
    expect(stderr, `${name} ${option}`).not.toContain(`Unknown option '${option}'`)
  }
})

test.each([
  [[], 'shell is missing. Allowed: bash, zsh, fish. usage:'],
  [['csh'], 'shell "csh" is not known. Allowed: bash, zsh, fish.'],
  [['bsh'], 'shell "bsh" is not known. Allowed: bash, zsh, fish. Did you mean bash?'],
  [['bash', 'zsh'], '"zsh" is an extra argument. usage:'],
])('completion %j is refused', async (args, message) => {
  const { code, stderr } = await run('/', 'completion', ...args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error[usage]: ${message}`)])
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
  const folder = scratch
  function complete(line: readonly string[]): string[] {
    const home = write(folder(), { 'fleet/x.yaml': '', 'key.txt': '' })
    const script = join(home, 'completion.bash')
    writeFileSync(script, completionScript('bash', words))
    const quoted = line.map(word => `'${word}'`).join(' ')
    const program = `source ${script}; COMP_WORDS=(${quoted}); COMP_CWORD=${line.length - 1}; _bailiwick; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { PATH } = process.env
    const out = execFileSync('bash', ['--norc', '-uc', program], { cwd: home, encoding: 'utf8', env: { PATH } })
    return out.split('\n').filter(Boolean).sort()
  }

  test.each([
    [['bailiwick', 'com'], ['completion']],
    [['bailiwick', 'check', '--fl'], ['--fleet']],
    [
      ['bailiwick', 'check', '-o', 'j'],
      ['json', 'json-lines', 'junit'],
    ],
    [['bailiwick', 'check', '--fleet', 'fl'], ['fleet']],
    [['bailiwick', 'check', '--sops-age-key-file', 'k'], ['key.txt']],
    [['bailiwick', 'check', '--tenant', 'k'], []],
    [['bailiwick', 'check', ''], ['fleet']],
    [['bailiwick', 'explain', 'namespace-conf'], ['namespace-confinement']],
    [['bailiwick', 'trail', 'v'], ['verify']],
    [['bailiwick', 'check', '--color', 'n'], ['never']],
    [['bailiwick', 'no-such', '--'], []],
  ])('%j', (line, expected) => {
    expect(complete(line)).toEqual(expected)
  })
})

describe.skipIf(!isThere('zsh'))('in zsh', () => {
  test('the script is read, and looks up what stands behind an option', () => {
    const script = `${completionScript('zsh', words)}\n_bailiwick_lookup check -o; print -r -- $known_kind $known_words`
    expect(execFileSync('zsh', ['-f', '-c', script], { encoding: 'utf8' }).trim()).toBe(
      'words text json json-lines sarif junit github',
    )
  })
})

describe.skipIf(!isThere('fish'))('in fish', () => {
  test('completes commands and options', () => {
    const script = `${completionScript('fish', words)}\ncomplete -C 'bailiwick check --fl'`
    expect(execFileSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' })).toContain('--fleet')
  })
})
