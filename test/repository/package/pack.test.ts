import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksOf } from '../docs/blocks-of.ts'
import { findProgram, programs } from '../runner/programs.ts'

const root = join(import.meta.dirname, '../../..')
const scratch = mkdtempSync(join(tmpdir(), 'bailiwick-pack-'))
const [packed, installed, work] = ['packed', 'installed', 'work'].map(name => join(scratch, name)) as [
  string,
  string,
  string,
]
const home = join(installed, 'node_modules/bailiwick')
const fromSources = join(root, 'src/surface/cli/bailiwick.js')
const reference = join(root, '../shared/fleets/flux2-multi-tenancy')
const address = 'https://github.com/fluxcd/flux2-multi-tenancy'

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env
  return new Promise((settle, reject) => {
    execFile(
      file,
      args,
      { cwd, env: { PATH, HOME, XDG_CACHE_HOME: join(scratch, 'cache'), ...env }, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        if (error && typeof error.code !== 'number') reject(error)
        else settle({ code: Number(error?.code ?? 0), stdout, stderr })
      },
    )
  })
}

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}
let contents: Packed

const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

beforeAll(async () => {
  for (const folder of [packed, installed, work]) mkdirSync(folder)
  const build = await run('npm', ['run', 'build'], root)
  expect(build.code, build.stderr).toBe(0)
  const pack = await run('npm', ['pack', '--json', '--pack-destination', packed, './dist'], root)
  expect(pack.code, pack.stderr).toBe(0)
  contents = JSON.parse(pack.stdout)[0]
  writeFileSync(join(installed, 'package.json'), '{"name":"consumer","private":true,"type":"module"}')
  // offline: the package needs no other
  const install = await run(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', join(packed, contents.filename)],
    installed,
  )
  expect(install.code, install.stderr).toBe(0)
  for (const name of ['fleet', 'dev-team', 'ops-team'])
    cpSync(join(root, 'test/fleet/fleets/acme', name), join(work, name), { recursive: true })
}, 240_000)
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('the package holds the bundle, its licenses, types and app.yml, and nothing of how it is made', () => {
  const { dependencies, devDependencies, scripts, private: isPrivate } = manifestIn(home)
  expect([dependencies, devDependencies, scripts, isPrivate]).toEqual([undefined, undefined, undefined, undefined])
  const paths = contents.files.map(({ path }) => path)
  const chunk = /^(?:chunks\/)?[\w-]+\.js(?:\.map)?$/
  expect(paths.filter(path => !chunk.test(path)).sort()).toEqual([
    ...['LICENSE', 'README.md', 'SKILL.md', 'THIRD-PARTY-LICENSES.txt', 'app.yml', 'package.json'],
    ...['command', 'given', 'main', 'usage'].map(name => `types/src/surface/cli/${name}.d.ts`),
  ])
  for (const name of ['bailiwick', 'main', 'probe', 'setup', 'web', 'worker']) expect(paths).toContain(`${name}.js`)
  for (const path of paths) expect(readFileSync(join(home, path), 'utf8'), path).not.toContain(root)
})

test('the checkout is packed by who installs from git, as pre-commit does; npm publishes only the other package', async () => {
  const pack = await run('npm', ['pack', '--json', '--dry-run', '--ignore-scripts'], root)
  const paths = (JSON.parse(pack.stdout)[0] as Packed).files.map(({ path }) => path)
  const { bin, private: isPrivate } = manifestIn(root)
  expect(isPrivate).toBe(true)
  for (const { path } of contents.files)
    expect(paths).toContain(/^(?:LICENSE|README\.md)$/.test(path) ? path : `dist/${path}`)
  for (const path of Object.values(bin)) expect(paths).toContain(path)
}, 120_000)

test('it answers as flux-bailiwick too, which flux finds by its name', async () => {
  const [own, flux] = await Promise.all(
    ['bailiwick', 'flux-bailiwick'].map(name =>
      run(process.execPath, [join(installed, 'node_modules/.bin', name), 'version'], work),
    ),
  )
  expect(flux).toEqual(own)
  expect(own?.code).toBe(0)
})

test('the package brings no other, and names the license of each that it carries', () => {
  expect(existsSync(join(home, 'node_modules'))).toBe(false)
  const lock = JSON.parse(readFileSync(join(installed, 'package-lock.json'), 'utf8'))
  expect(Object.keys(lock.packages).sort()).toEqual(['', 'node_modules/bailiwick'])
  const licenses = readFileSync(join(home, 'THIRD-PARTY-LICENSES.txt'), 'utf8')
  for (const name of ['yaml', 'probot', 'bullmq', '@kubernetes/client-node'])
    expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\S+ \\(`, 'm'))
  expect(licenses).toContain('external-secrets/external-secrets | v')
})

/** Blocks of commands that install the package from a checkout. `npm ci` ran before the tests, and would remove what they run on. */
test.each([
  ['README.md', 3],
  ['docs/tutorial.md', 4],
] as const)(
  'the commands of %s install it for a user',
  async (page, count) => {
    const mark = 'run by test/repository/package/pack.test.ts'
    const [block, more] = blocksOf(readFileSync(join(root, page), 'utf8')).filter(({ comment }) => comment === mark)
    const commands = block!.text.split('\n').filter(line => line !== 'npm ci')
    expect([commands.length, more]).toEqual([count, undefined])
    const prefix = join(scratch, 'global')
    const env = { npm_config_prefix: prefix, PATH: `${prefix}/bin:${process.env.PATH}` }
    const { code, stdout, stderr } = await run('bash', ['-ec', commands.join('\n')], root, env)
    rmSync(join(root, contents.filename), { force: true })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/usage: bailiwick COMMAND|^\d+\.\d+\.\d+$/m)
  },
  240_000,
)

/** Command lines in the folder that holds the fleet of the tests. */
const LINES = [
  '--version',
  '--help',
  ...['check', 'render', 'build', 'baseline', 'can-i', 'access', 'audit', 'onboard'].map(name => `help ${name}`),
  'check fleet',
  'check fleet -o json',
  'check fleet -o sarif',
  'render fleet/clusters/staging --origins',
  'build fleet --cluster staging',
  'access apps fleet',
  'audit fleet',
  'validate fleet',
  'graph fleet',
  'doctor',
  'conquer',
]

/** The Node of the checkout, and the oldest that `engines` allows. */
const NODES = { 'Node 24': () => process.execPath, 'Node 22.18': () => findProgram('node-22') }

describe.each(Object.entries(NODES))('on %s', (_, find) => {
  const node = find()

  test('is that Node', async ({ skip }) => {
    if (node === undefined) return skip(`no node-22: ${programs['node-22'].get}`)
    const { stdout } = await run(node, ['--version'], work)
    const { engines } = manifestIn(home)
    if (find === NODES['Node 22.18']) expect(`>=${stdout.trim().slice(1)}`).toBe(`${engines.node}.0`)
  })

  test.for(LINES)('bailiwick %s does what the sources do', async (line, { skip }) => {
    if (node === undefined) return skip(`no node-22: ${programs['node-22'].get}`)
    const args = line.split(' ')
    const [ours, theirs] = await Promise.all([
      run(node, [join(installed, 'node_modules/.bin/bailiwick'), ...args], work),
      run(process.execPath, [fromSources, ...args], work),
    ])
    expect(ours).toEqual(theirs)
    expect(ours.stdout + ours.stderr).not.toBe('')
  })

  test('check of the reference fleet gives the JSON of the sources', async ({ skip }) => {
    if (node === undefined) return skip(`no node-22: ${programs['node-22'].get}`)
    if (!existsSync(reference)) return skip('no reference fleet in ../shared/fleets')
    const args = ['check', 'fleet', '--url', address, '--repo', `${address}#dev-team=dev-team`, '-o', 'json']
    const ours = await run(node, [join(home, 'bailiwick.js'), ...args], reference)
    expect(JSON.parse(ours.stdout)).toMatchObject({ result: 'pass' })
    expect(ours).toEqual(await run(process.execPath, [fromSources, ...args], reference))
  })

  test('mcp answers a client of the protocol', async ({ skip }) => {
    if (node === undefined) return skip(`no node-22: ${programs['node-22'].get}`)
    const client = new Client({ name: 'test', version: '1' })
    const args = [join(home, 'bailiwick.js'), 'mcp', '--root', work]
    await client.connect(new StdioClientTransport({ command: node, args, cwd: work }))
    const { content } = await client.callTool({ name: 'render', arguments: { dir: 'fleet/tenants/staging' } })
    expect(JSON.stringify(content)).toContain('dev-team')
    await client.close()
  })

  test('a stack trace names the sources', async ({ skip }) => {
    if (node === undefined) return skip(`no node-22: ${programs['node-22'].get}`)
    writeFileSync(join(installed, 'trace.js'), TRACE)
    const { stdout } = await run(node, ['--enable-source-maps', 'trace.js'], installed)
    expect(stdout).toMatch(/^\s+at .*src\/surface\/cli\/main\.ts:\d+:\d+\)?$/m)
  })
})

/** Prints where the command line writes from. */
const TRACE = `
import { main } from 'bailiwick'
const stdout = () => console.log(new Error('here').stack)
await main(['--version'], { stdout, stderr: console.error, stdin: [], cwd: '/' })
`

/** What a program sees on Node 20; the import of what only later versions have is not held against it. */
const NODE_20 = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.19.0"}})`

test.each(['web.js', 'worker.js', 'setup.js', 'bailiwick.js'])(
  'on Node 20, %s of the package says which Node it needs',
  async file => {
    const { code, stdout, stderr } = await run(process.execPath, ['--import', NODE_20, join(home, file)], work)
    expect(stderr).toMatch(/^error\[config\]: Node 20\.19\.0 is too old[^\n]* 22\.18 or newer[^\n]*\n$/)
    expect([code, stdout]).toEqual([2, ''])
  },
)

test('what names the Node that is needed is loaded by any Node', () => {
  for (const name of ['web', 'worker', 'setup']) {
    const entry = readFileSync(join(home, `${name}.js`), 'utf8')
    const chunks = [...entry.matchAll(/^import .*"\.\/(chunks\/[^"]+)"/gm)].map(([, path]) => path!)
    const modules = ['', ...chunks].map(path => (path === '' ? entry : readFileSync(join(home, path), 'utf8')))
    // the helper of the bundler, the question and the file of settings: nothing of the program
    expect(modules.join('').length, name).toBeLessThan(6000)
  }
})

test('a program in TypeScript finds the types, without those of Node', async () => {
  writeFileSync(
    join(installed, 'program.ts'),
    `import { main } from 'bailiwick'
const code: Promise<number> = main([], { stdout() {}, stderr() {}, stdin: (async function* () {})(), cwd: '/' })
// @ts-expect-error: the second argument is needed
main([])
`,
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  for (const resolution of ['nodenext', 'bundler']) {
    const options = ['--moduleResolution', resolution, '--module', resolution === 'bundler' ? 'esnext' : resolution]
    const { stdout } = await run(
      process.execPath,
      [tsc, '--noEmit', '--strict', '--types', '', ...options, 'program.ts'],
      installed,
    )
    expect(stdout).toBe('')
  }
})
