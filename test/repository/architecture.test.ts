import { basename, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DYNAMIC, MAY_IMPORT, PACKAGES, PURE } from './parts.ts'
import {
  codeOnly,
  everything,
  exportsOf,
  type Import,
  importsOf,
  production,
  resolveFrom,
  TYPES,
  withoutComments,
} from './runner/sources.ts'

function partOf(path: string): string {
  if (path === 'src/git/tree.ts') return 'git/tree'
  const [top = '', part = '', ...deeper] = path.split('/')
  if (top !== 'src') return top
  return deeper.length > 0 ? part : basename(part, '.ts')
}

function mayImport(from: string, { how }: Import, to: string): boolean {
  const part = from === 'git/tree' ? 'git' : from
  if (part === to || (part === 'git' && to === 'git/tree')) return true
  if (to === 'git/tree' && MAY_IMPORT[part]?.includes('git')) return true
  if (how === 'dynamic' && DYNAMIC.some(allowed => allowed.from === part && allowed.to === to)) return true
  return MAY_IMPORT[part]?.includes(to) ?? false
}

function problems(visit: (path: string, source: string) => Iterable<string>, files = production): string[] {
  return [...files].flatMap(([path, source]) => [...visit(path, source)].map(text => `${path}: ${text}`))
}

/** What a rule has to find: a pattern that matches nothing any more would pass everything. */
const planted = (source: string) => new Map([['planted.ts', source]])

describe('directions', () => {
  test('every part imports only what the table allows', () => {
    const found = problems(function* (path, source) {
      const from = partOf(path)
      if (!(from in MAY_IMPORT) && from !== 'git/tree')
        yield `${from} is no part of the table: add it with what it may import`
      for (const one of importsOf(source)) {
        if (!one.specifier.startsWith('.')) continue
        const to = partOf(resolveFrom(path, one.specifier))
        if (!mayImport(from, one, to)) yield `${from} may not import ${to} (${one.specifier})`
      }
    })
    expect(found).toEqual([])
  })

  test('an import names a file that is there, and nothing is loaded by a computed name', () => {
    const found = problems(function* (path, source) {
      for (const { specifier } of importsOf(source)) {
        if (!specifier.startsWith('.')) continue
        const target = resolveFrom(path, specifier)
        if (!everything.has(target) && !target.endsWith('.json')) yield `${specifier} is not a file of ours`
      }
      const code = codeOnly(source)
      if (!production.has(path)) return
      if (/\bimport\s*\((?!\s*_)/.test(code)) yield 'import() of a computed name'
      if (/\b(?:require|createRequire)\s*\(/.test(code)) yield 'require()'
    }, everything)
    expect(found).toEqual([])
  })

  test('no two folders import each other', () => {
    const folderOf = (path: string) => (/^(?:src|workers)\/[^/]+$/.test(path) ? path : dirname(path))
    const ways = new Map<string, string>()
    for (const [path, source] of production) {
      for (const { specifier, how } of importsOf(source)) {
        if (!specifier.startsWith('.') || how === 'dynamic') continue
        const target = resolveFrom(path, specifier)
        if (folderOf(path) !== folderOf(target))
          ways.set(`${folderOf(path)} ${folderOf(target)}`, `${path} -> ${target}`)
      }
    }
    const back = [...ways].filter(([way]) => ways.has(way.split(' ').reverse().join(' ')))
    expect(back.map(([, example]) => example)).toEqual([])
  })
})

describe('the core', () => {
  const within = (path: string, folders: readonly string[]) =>
    folders.filter(folder => path === folder || path.startsWith(`${folder}/`))
  const pure = new Map([...production].filter(([path]) => within(path, PURE).length > 0))

  test('does no input or output: of Node it uses node:crypto, of packages those of its table', () => {
    const found = problems(function* (path, source) {
      const allowed = ['node:crypto', ...within(path, Object.keys(PACKAGES)).flatMap(folder => PACKAGES[folder] ?? [])]
      for (const { specifier } of importsOf(source)) {
        if (!specifier.startsWith('.') && !allowed.includes(specifier)) yield `imports ${specifier}`
      }
    }, pure)
    expect(found).toEqual([])
  })

  test('sees no clock, no chance, no process, no network and no console', () => {
    const outside =
      /\b(?:Date\.now|new Date\(\)|Math\.random|performance\.|process\.|console\.|globalThis\b|set(?:Timeout|Interval|Immediate)\(|fetch\(|randomUUID|randomBytes|eval\(|new Function\()/
    const visit = function* (_path: string, source: string) {
      const match = outside.exec(codeOnly(source))
      if (match) yield `uses ${match[0]}`
    }
    expect(problems(visit, planted('const now = Date.now()'))).toEqual(['planted.ts: uses Date.now'])
    expect(problems(visit, pure)).toEqual([])
  })

  test('is there at all', () => {
    for (const folder of PURE)
      expect(
        [...pure.keys()].flatMap(path => within(path, PURE)),
        folder,
      ).toContain(folder)
  })
})

/**
 * Who reads the content of repositories: the reader of sources, which reads what decideRead let through, and those that read
 * the repository of the change itself or a fleet. Whoever else needs a file of some repository asks for a decision first.
 */
const READS_CONTENT = [
  'workers/fleets/designation.ts',
  'workers/fleets/evaluate-change.ts',
  'workers/fleets/source-reader.ts',
  'workers/fleets/github-installation.ts',
  'workers/apply/apply-work.ts',
  'workers/gate/missing-approvals.ts',
  'workers/tenants/onboarding-access.ts',
  'workers/fleets/evaluate-revision-set.ts',
  'workers/gate/survey-place.ts',
  'workers/jobs/validate-merge-group.ts',
  'workers/jobs/check-action.ts',
  'workers/gate/evaluate-pull-request.ts',
  'workers/gate/commit-outcome.ts',
]

/** The table, and a text for people that gives an example. Keys of annotations and prose name no kind. */
const NAMES_FLUX_GROUPS = ['src/kube/flux-kinds.ts', 'src/fleet/config/shape.ts']

describe('house rules', () => {
  test('`any` stands nowhere, enums and namespaces neither', () => {
    const visit = function* (_path: string, source: string) {
      const code = codeOnly(source)
      if (/(?:[:<|&,]|\bas|=>|=)\s*any\b(?!\s*[(.:])|\bany\[\]/.test(code)) yield 'any'
      if (/^\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?enum\s+\w/m.test(code)) yield 'enum'
      if (/^\s*(?:export\s+)?(?:declare\s+)?namespace\s+\w/m.test(code)) yield 'namespace'
    }
    const all = planted('let a: any\nexport const enum B {}\nnamespace C {}\n')
    expect(problems(visit, all)).toEqual(['planted.ts: any', 'planted.ts: enum', 'planted.ts: namespace'])
    expect(problems(visit, everything)).toEqual([])
  })

  test('a file with one export is named after it', () => {
    const found = problems(function* (path, source) {
      const [name, ...others] = exportsOf(source).map(kebab)
      const stem = basename(path, '.ts')
      if (name === undefined || others.length > 0 || stem === 'index') return
      if (!sharesWord(name, path)) yield `exports ${name}`
    })
    expect(found).toEqual([])
  })

  test('no two types that files export share a name', () => {
    const files = new Map<string, string[]>()
    for (const [path, source] of production) {
      for (const name of exportsOf(source, TYPES)) files.set(name, [...(files.get(name) ?? []), path])
    }
    expect([...files].filter(([, paths]) => paths.length > 1)).toEqual([])
  })

  test('content of repositories is read in known places only', () => {
    const found = [...production].flatMap(([path, source]) =>
      path.startsWith('workers/') && /\b(?:installation|subject)\.content\(|\breadTree\(/.test(codeOnly(source))
        ? [path]
        : [],
    )
    // the list is exact, so that a pattern that matches nothing any more is noticed
    expect(found.sort()).toEqual([...READS_CONTENT].sort())
  })

  test('groups of Flux are named by the table of its kinds only', () => {
    const group =
      /(['"`])(?:(?:kustomize|helm|source|image|notification)\.toolkit\.fluxcd\.io|source\.extensions\.fluxcd\.io|fluxcd\.controlplane\.io|infra\.contrib\.fluxcd\.io|gitops\.kluctl\.io|cue\.contrib\.flux\.io)(?:\/[A-Zv$]\S*)?\1/
    const found = problems(function* (path, source) {
      const match = group.exec(withoutComments(source))
      if (match && !NAMES_FLUX_GROUPS.includes(path)) yield `${match[0]}: ask src/kube/flux-kinds.ts`
    })
    expect(found).toEqual([])
    for (const path of NAMES_FLUX_GROUPS) expect(group.test(withoutComments(production.get(path)!)), path).toBe(true)
  })

  test('where a file is means nothing to it: the bundle holds all of them in others', () => {
    const known = /new URL\('\.[^']+\.ts', import\.meta\.url\)|findPackageJSON\(import\.meta\.url\)/g
    const visit = function* (_path: string, source: string) {
      const use = /\bimport\.meta\b.*/.exec(withoutComments(source).replaceAll(known, ''))
      if (use) yield use[0]
    }
    expect(problems(visit, planted('read(import.meta.url)'))).toEqual(['planted.ts: import.meta.url)'])
    expect(problems(visit)).toEqual([])
  })

  test('no file is called utils, helpers, manager or common', () => {
    const vague = /(?:^|[-/])(?:utils?|helpers?|managers?|common|misc)(?:[-./]|$)/
    expect(['src/git/utils.ts', 'src/common/a.ts'].every(path => vague.test(path))).toBe(true)
    expect([...everything.keys()].filter(path => vague.test(path))).toEqual([])
  })

  test('no test is switched off or run alone', () => {
    const visit = function* (_path: string, source: string) {
      const match = /\b(?:test|it|describe)\.(?:only|todo|skip)\b/.exec(codeOnly(source))
      if (match) yield match[0]
    }
    expect(problems(visit, planted("test.only('a', () => {})"))).toEqual(['planted.ts: test.only'])
    expect(problems(visit, everything)).toEqual([])
  })
})

const kebab = (name: string) =>
  name
    .replaceAll('_', '-')
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()

/** `KubeObject` in object.ts, `Accumulation` in accumulate.ts, `rules` in rules/registry.ts: a word of the place stands in the name. */
function sharesWord(name: string, path: string): boolean {
  const place = [basename(path, '.ts'), basename(dirname(path))].flatMap(part => part.split('-'))
  const alike = (a: string, b: string) => a === b || (a.length > 5 && a.slice(0, 6) === b.slice(0, 6))
  return name.split('-').some(word => place.some(other => alike(word, other)))
}
