import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Built, built } from './built.ts'

const root = join(import.meta.dirname, '../../..')
const fleet = join(root, 'test/fleet/fleets/acme/fleet')
let bundle: Built
const home = mkdtempSync(join(tmpdir(), 'bailiwick-loaded-'))

beforeAll(async () => {
  bundle = await built()
}, 120_000)
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** Modules of ours (`src/x.ts`) and of packages (`yaml/x.js`) in the chunks that a process really loaded, by a hook of Node's loader. */
async function loadedBy(
  ...args: readonly string[]
): Promise<{ chunks: string[]; files: string[]; packages: string[] }> {
  const dist = join(bundle.folder, 'dist')
  const list = join(home, `${args.join('-').replaceAll(/\W/g, '-')}.txt`)
  const env = { PATH: process.env.PATH, HOME: home, BAILIWICK_LOADED: list }
  rmSync(list, { force: true }) // a repeated test would count twice
  await new Promise<void>((settle, reject) => {
    const hook = join(import.meta.dirname, 'list-loaded.mjs')
    const command = ['--import', hook, join(dist, 'bailiwick.js'), ...args]
    execFile(process.execPath, command, { env, cwd: home }, (error, stdout, stderr) =>
      error || stderr.startsWith('error') ? reject(new Error(`${stderr}${stdout}`, { cause: error })) : settle(),
    )
  })
  const chunks = readFileSync(list, 'utf8').trim().split('\n')
  const modules = chunks.flatMap(path => bundle.chunks.get(relative(dist, path).split(sep).join('/'))?.moduleIds ?? [])
  const within = modules.map(id => relative(root, id).split(sep).join('/'))
  return {
    chunks,
    files: within.filter(path => path.startsWith('src/') || path.startsWith('workers/')).sort(),
    packages: within.flatMap(path => /.*node_modules\/(.+)/.exec(path)?.[1] ?? []).sort(),
  }
}

describe('what a start loads', () => {
  test('--help: the list of commands, none of them, and no package', async () => {
    const { chunks, files, packages } = await loadedBy('--help')
    expect(chunks.length).toBeLessThan(6)
    expect(packages).toEqual([])
    expect(files).toContain('src/surface/cli/main.ts')
    expect(files.filter(path => !path.startsWith('src/surface/cli/'))).toEqual([
      'src/base/errors.ts',
      'src/base/message.ts',
      'src/base/missing-package.ts',
      'src/base/name-list.ts',
      'src/base/removed.ts',
      'src/base/version.ts',
      'src/base/visible.ts',
      'src/report/text/fit-budget.ts',
      'src/report/text/place.ts',
    ])
    expect(files).not.toContain('src/surface/cli/check.ts')
    expect(files.length).toBeLessThan(24)
  })

  test('check: the core, one package and nothing of the App', async () => {
    const { chunks, files, packages } = await loadedBy('check', fleet)
    expect(chunks.length, 'each file that is opened costs a start more than what is in it').toBeLessThan(14)
    // regular expressions
    expect(packages).toEqual(['re2js/build/index.js'])
    expect(files).toContain('src/rules/registry.ts')
    const parts = new Set(
      files.map(path =>
        path
          .split('/')
          .slice(1, path.startsWith('src/surface/') ? 3 : 2)
          .join('/'),
      ),
    )
    const core = 'admission base expr fleet flux git kube kustomize report rules schema surface/cli verdict'.split(' ')
    expect([...parts].filter(part => !core.includes(part))).toEqual([])
  })

  test('the web process: nothing that renders or judges', () => {
    // the entry asks for the Node that it needs, and then for the program
    const entry = bundle.chunks.get('web.js')
    const loaded = new Set(['web.js', ...(entry?.dynamicImports ?? [])])
    for (const name of loaded) for (const next of bundle.chunks.get(name)?.imports ?? []) loaded.add(next)
    const modules = [...loaded].flatMap(name => bundle.chunks.get(name)?.moduleIds ?? [])
    const files = modules.map(id => relative(root, id).split(sep).join('/'))
    expect(files).toContain('src/start-site.ts')
    const renders = /^src\/(?:flux|kustomize|rules|verdict\/(?:assessor|evaluate-sides|recorded-index))\b/
    expect(files.filter(path => renders.test(path))).toEqual([])
  })

  test('no chunk imports what is neither beside it nor in Node', () => {
    const imports = [...bundle.chunks.values()].flatMap(chunk => [...chunk.imports, ...chunk.dynamicImports])
    expect(imports.filter(name => !bundle.chunks.has(name) && !isBuiltin(name))).toEqual([])
  })
})
