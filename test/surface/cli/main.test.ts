import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { check } from '../../../src/surface/cli/check.ts'
import { copyOptions } from '../../../src/surface/cli/check-options.ts'
import { readGiven } from '../../../src/surface/cli/given.ts'
import { run, scratch, write } from './run-main.ts'

const program = join(import.meta.dirname, '../../../src/surface/cli/bailiwick.js')

describe('what every command line does', () => {
  test('help lists the commands', async () => {
    for (const argv of [['help'], ['--help'], ['-h']]) {
      const { code, stdout, stderr } = await run('/', ...argv)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^ {2}check +\S/m)
      expect(stdout).toMatch(/^ {2}onboard +\S/m)
    }
    expect((await run('/', 'help', 'check')).stdout).toContain('--base REF')
    expect((await run('/', 'onboard', '--help')).stdout).toContain('--namespace NS')
  })

  test('--version', async () => {
    expect(await run('/', '--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  const bad: Record<string, string[]> = {
    'no command': [],
    'an unknown command': ['conquer'],
    'a command that is an escape sequence': ['\u001b[2J\n'],
    'an unknown topic': ['help', 'conquer'],
    'an unknown option': ['check', '--force'],
    'two directories': ['check', 'a', 'b'],
    'an unknown format': ['check', '-o', 'xml'],
    'a repo without a directory': ['check', '--repo', 'https://github.com/a/b'],
    'a repo with an empty ref': ['check', '--repo', 'https://github.com/a/b#=x'],
    'an option twice': ['check', '--base', 'a', '--base', 'b'],
    'an empty option': ['check', '--url='],
    'a missing value': ['check', '--base'],
    'no such directory': ['check', 'nowhere-at-all'],
    'an onboarding without a name': ['onboard'],
  }
  for (const [name, argv] of Object.entries(bad)) {
    test(`${name} is one line and exit 2`, async () => {
      const { code, stdout, stderr } = await run(scratch(), ...argv)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^error\[(usage|git-missing|onboard-input)\]: [^\n]+\n$/)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      expect(stderr).not.toMatch(/[\u0000-\u0009\u001b]/)
    })
  }

  test('a folder without a fleet could not be evaluated, with the way out', async () => {
    const { code, stderr, stdout } = await run(write(scratch(), { 'README.md': '' }), 'check', '-o', 'json')
    expect(code).toBe(2)
    expect(JSON.parse(stdout).result).toBe('error')
    expect(stderr).toMatch(/^error\[path-not-found\]: .*--fleet DIR\.\n$/)
  })

  test('--base needs a working copy', async () => {
    expect(await run(scratch(), 'check', '--base', 'main')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error\[usage\]: --base needs/),
    })
  })
})

describe('options of check', () => {
  test('addresses are normalised, directories start from the current one', () => {
    const repositories = ['git@GitHub.com:Acme/Ops.git#v1/a=../ops', 'https://git.example/a/b=/abs=olute']
    const args = ['x', ...repositories.flatMap(one => ['--repo', one]), '-o', 'json', '--fleet=f']
    expect(copyOptions(readGiven(check, args), '/work')).toMatchObject({
      dir: '/work/x',
      fleet: '/work/f',
      output: 'json',
      repositories: [
        { url: 'https://github.com/acme/ops', ref: 'v1/a', dir: '/ops' },
        { url: 'https://git.example/a/b', dir: '/abs=olute' },
      ],
    })
  })
})

describe('the program', () => {
  test('runs as it is, with its exit code', () => {
    expect(execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' })).toMatch(/^\d/)
    const ran = spawnSync(process.execPath, [program, 'conquer'], { encoding: 'utf8' })
    expect([ran.status, ran.stdout]).toEqual([2, ''])
    expect(ran.stderr).toBe('error[usage]: unknown command "conquer". Run bailiwick help for a list of commands.\n')
  })

  test('ends quietly when its reader does', () => {
    const ran = spawnSync('sh', ['-c', `"${process.execPath}" "${program}" help | true`], { encoding: 'utf8' })
    expect([ran.status, ran.stderr]).toEqual([0, ''])
  })

  test('with an older Node it runs the one of the dependency', ({ skip }) => {
    const old = ['/usr/bin/node', '/usr/local/bin/node'].find(
      path => existsSync(path) && Number(execFileSync(path, ['-p', 'process.versions.node.split(".")[0]'])) < 24,
    )
    if (old === undefined) return skip('no older Node on this machine')
    const ran = spawnSync(old, [program, 'conquer'], { encoding: 'utf8' })
    expect([ran.status, ran.stderr]).toEqual([
      2,
      'error[usage]: unknown command "conquer". Run bailiwick help for a list of commands.\n',
    ])
  })
})
