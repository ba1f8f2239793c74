import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { globalOptions, main } from '../../../src/surface/cli/main.ts'
import { terminalIo } from '../../../src/surface/cli/terminal.ts'
import { writeInside } from '../../../src/surface/cli/write-inside.ts'
import { run, scratch, write } from './run-main.ts'
import { BAD, tenantOnBranch, world } from './situation.ts'

const BASE = ['check', '--fleet', '../fleet', '--base', 'main']

describe('a finding on a terminal', () => {
  const PLACE = 'deploy/config.yaml:3: violation[namespace-confinement]: '

  test('shows its line, with carets under the value', async () => {
    const { stdout } = await run(tenantOnBranch(), ...BASE, '--verbose')
    const lines = stdout.split('\n')
    const at = lines.findIndex(line => line.startsWith(PLACE))
    expect(lines.slice(at + 1, at + 3)).toEqual([
      '  3 | metadata: { name: config, namespace: flux-system }',
      '    |                                      ^^^^^^^^^^^',
    ])
  })

  test('in a log, without being asked, shows the place alone', async () => {
    expect((await run(tenantOnBranch(), ...BASE)).stdout).not.toContain('^^^')
  })

  test('never shows what steers the terminal, and the carets stay under the value', async () => {
    const text = readFileSync(join(world().tenant, 'deploy/config.yaml'), 'utf8')
    const hostile = text.replace(
      '{ name: config, namespace: apps }',
      '{ name: "\\e[2J", namespace: flux-system } # \u001b]0;x\u0007',
    )
    const { stdout } = await run(
      tenantOnBranch({ 'deploy/config.yaml': hostile.replaceAll('\u001b', '\u202e').replaceAll('\u0007', '') }),
      ...BASE,
      '--verbose',
    )
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(stdout).not.toMatch(/[\u0000-\u0009\u001b\u202e]/)
  })

  test('never shows a line with a credential', async () => {
    const secret = BAD['deploy/config.yaml'].replace(
      'name: config,',
      'name: config, annotations: { password: hunter2 },',
    )
    const { stdout } = await run(tenantOnBranch({ 'deploy/config.yaml': secret }), ...BASE, '--verbose')
    expect(stdout).toContain(PLACE)
    expect(stdout).not.toContain('hunter2')
  })

  test('links to the file where the terminal opens links', async () => {
    const tenant = tenantOnBranch()
    let stdout = ''
    const io = {
      stdout: (text: string) => {
        stdout += text
      },
      stderr: () => {},
      stdin: Readable.from([]),
      cwd: tenant,
    }
    expect(await main(BASE, { ...io, hasLinks: true, env: {} })).toBe(1)
    const [, place] = stdout.match(/^(.*): violation/m) ?? []
    const [address, shown] = place?.split('\u001b\\') ?? []
    expect(address).toMatch(/\]8;;file:\/\/\/.+\/dev-team\/deploy\/config\.yaml#L3$/)
    expect(shown).toBe('deploy/config.yaml:3\u001b]8;;')
  })
})

test('--quiet leaves what blocks and the result, which still counts what is not visible', async () => {
  const { fleet } = world()
  const { code, stdout } = await run(fleet, 'check', '--quiet')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Passed[^\n]*its source is not visible\.[^\n]*\n$/)
  const blocked = await run(tenantOnBranch(), ...BASE, '--quiet')
  expect(blocked.code).toBe(1)
  expect(blocked.stdout).toMatch(/violation\[namespace-confinement\][\s\S]*\nfail: [^\n]+\n$/)
  expect(blocked.stdout).not.toMatch(/^(?:changes|evaluated as|warning)/m)
})

describe('options of every command', () => {
  test('stand anywhere before --', () => {
    expect(globalOptions(['check', '--quiet', '--color', 'never', 'x', '--', '--quiet'])).toEqual({
      rest: ['check', 'x', '--', '--quiet'],
      look: { quiet: true, color: false },
    })
    expect(globalOptions(['--color=always', 'check']).look).toEqual({ color: true })
  })

  test.each([['--color'], ['--color=red'], ['--color', 'red']])('%s is refused', async (...argv) => {
    expect((await run('/', 'explain', ...argv)).stderr).toMatch(
      /^error\[usage\]: --color .* Allowed: auto, always, never\. Write one of them\.\n$/,
    )
  })

  test('version is a command too, and a slip of the fingers is understood', async () => {
    expect(await run('/', 'version')).toEqual(await run('/', '--version'))
    expect((await run('/', 'verison')).stderr).toContain('Did you mean version?')
    expect((await run('/', 'chekc')).stderr).toContain('Did you mean check?')
  })
})

test.each([
  [{ TERM_PROGRAM: 'WezTerm' }, true, { color: true, hasLinks: true, isTerminal: true }],
  [{ VTE_VERSION: '7600', NO_COLOR: '1' }, true, { color: false, hasLinks: true, isTerminal: true }],
  [{ TERM_PROGRAM: 'WezTerm' }, false, { color: false, hasLinks: false, isTerminal: false }],
  [{ TERM: 'dumb', KITTY_WINDOW_ID: '1' }, true, { color: false, hasLinks: false, isTerminal: true }],
  [{ FORCE_COLOR: '1', CI: 'true', KITTY_WINDOW_ID: '1' }, false, { color: true, hasLinks: false, isTerminal: false }],
  [{ CI: 'true', WT_SESSION: 'x' }, true, { color: true, hasLinks: false, isTerminal: true }],
])('with %j, a terminal: %s', (env, isTerminal, expected) => {
  expect(terminalIo(env, isTerminal)).toEqual(expected)
})

test('a removed --watch evaluates once, and warns', async () => {
  const warnings: string[] = []
  const io = { stdout: () => {}, stderr: (text: string) => void warnings.push(text), stdin: Readable.from([]) }
  expect(await main([...BASE, '--watch'], { ...io, cwd: tenantOnBranch(), env: {} })).toBe(1)
  expect(warnings.join('')).toMatch(/^warning: --watch: removed\. Run `watchexec/m)
  expect(await main(['watch'], { ...io, cwd: '/', env: {} })).toBe(2)
})

test('a file is replaced as a whole, keeps its mode, and leaves nothing beside it', async () => {
  const folder = write(scratch(), { 'a/run.sh': 'old' })
  writeFileSync(join(folder, 'a/run.sh'), 'old', { mode: 0o600 })
  const { mode } = statSync(join(folder, 'a/run.sh'))
  await writeInside(folder, 'a/run.sh', 'new')
  await writeInside(folder, 'a/b/c.yaml', 'x')
  expect(readFileSync(join(folder, 'a/run.sh'), 'utf8')).toBe('new')
  expect(statSync(join(folder, 'a/run.sh')).mode).toBe(mode)
  expect(readdirSync(folder, { recursive: true }).sort()).toEqual(['a', 'a/b', 'a/b/c.yaml', 'a/run.sh'])
})
