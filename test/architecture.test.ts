import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DYNAMIC, MAY_IMPORT, PACKAGES, PURE } from './parts.ts'

interface Import {
  readonly specifier: string
  /** A type import leaves nothing behind at run time; a dynamic one loads when it is reached. */
  readonly how: 'value' | 'type' | 'dynamic'
}

const root = join(import.meta.dirname, '..')
const production = read('{src,workers}/**/*.ts')
const everything = new Map([...production, ...read('{test,bench,build,docs}/**/*.ts')])

function read(pattern: string): Map<string, string> {
  const paths = globSync(pattern, { cwd: root }).sort()
  return new Map(paths.map(path => [path, readFileSync(join(root, path), 'utf8')]))
}

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/
const REGEXP = /(?<=[=(,:;!&|?{}[\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/
const TOKEN = new RegExp(`(${COMMENT.source})|(${STRING.source})|(${REGEXP.source})`, 'g')

const withoutComments = (source: string) =>
  source.replace(TOKEN, (text, comment) => (comment === undefined ? text : ' '))
const codeOnly = (source: string) => source.replace(TOKEN, ' _ ')

function importsOf(source: string): Import[] {
  const text = withoutComments(source)
  const found: Import[] = []
  const add = (pattern: RegExp, how: Import['how']) => {
    for (const match of text.matchAll(pattern)) found.push({ specifier: match[1] ?? '', how })
  }
  add(/^\s*(?:import|export)\s+type\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm, 'type')
  add(/^\s*(?:import|export)\b(?!\s+type\b)[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm, 'value')
  add(/^\s*import\s*['"]([^'"]+)['"]/gm, 'value')
  add(/\bimport\s*\(\s*['"`]([^'"`]+)['"`]/g, 'dynamic')
  // A worker thread's file is started by its address: an import in everything but name.
  add(/\bnew URL\(\s*['"`](\.[^'"`]+\.[cm]?[jt]s)['"`]/g, 'dynamic')
  return found
}

const resolveFrom = (path: string, specifier: string) => posix.normalize(posix.join(dirname(path), specifier))

function partOf(path: string): string {
  if (path === 'src/git/tree.ts') return 'git/tree'
  if (path === 'src/flux/kinds.ts') return 'flux/kinds'
  const [top = '', part = '', ...deeper] = path.split('/')
  if (top !== 'src') return top
  return deeper.length > 0 ? part : basename(part, '.ts')
}

function mayImport(from: string, { how }: Import, to: string): boolean {
  const part = from === 'git/tree' ? 'git' : from
  if (part === to || (part === 'git' && to === 'git/tree')) return true
  if (to === 'flux/kinds' && (part === 'flux' || MAY_IMPORT[part]?.includes('flux'))) return true
  if (to === 'git/tree' && MAY_IMPORT[part]?.includes('git')) return true
  if (how === 'dynamic' && DYNAMIC.some(allowed => allowed.from === part && allowed.to === to)) return true
  return MAY_IMPORT[part]?.includes(to) ?? false
}

function problems(visit: (path: string, source: string) => Iterable<string>, files = production): string[] {
  return [...files].flatMap(([path, source]) => [...visit(path, source)].map(text => `${path}: ${text}`))
}

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

  test('files import each other in no circle', () => {
    expect(circles(production)).toEqual([])
  })

  test('no two folders import each other', () => {
    const folderOf = (path: string) =>
      /^(?:src|workers)\/[^/]+$|^src\/flux\/kinds\.ts$/.test(path) ? path : dirname(path)
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

/** Every circle that a depth-first walk closes, imports of types included, as the list of its files. */
function circles(files: ReadonlyMap<string, string>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const walk = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
      return
    }
    if (done.has(path)) return
    for (const { specifier, how } of importsOf(files.get(path) ?? '')) {
      if (specifier.startsWith('.') && how !== 'dynamic') walk(resolveFrom(path, specifier), [...trail, path])
    }
    done.add(path)
  }
  for (const path of files.keys()) walk(path, [])
  return found
}

describe('the core', () => {
  const pure = new Map(
    [...production].filter(
      ([path]) => PURE.includes(partOf(path)) || ['src/git/tree.ts', 'src/flux/kinds.ts'].includes(path),
    ),
  )

  test('does no input or output: of Node it uses node:crypto, of packages those of its table', () => {
    const found = problems(function* (path, source) {
      const allowed = ['node:crypto', ...(PACKAGES[partOf(path)] ?? [])]
      for (const { specifier } of importsOf(source)) {
        if (!specifier.startsWith('.') && !allowed.includes(specifier)) yield `imports ${specifier}`
      }
    }, pure)
    expect(found).toEqual([])
  })

  test('sees no clock, no chance, no process, no network and no console', () => {
    const outside =
      /\b(?:Date\.now|new Date\(\)|Math\.random|performance\.|process\.|console\.|globalThis\b|set(?:Timeout|Interval|Immediate)\(|fetch\(|randomUUID|randomBytes|eval\(|new Function\()/
    const found = problems(function* (_path, source) {
      const match = outside.exec(codeOnly(source))
      if (match) yield `uses ${match[0]}`
    }, pure)
    expect(found).toEqual([])
  })

  test('is there at all', () => {
    for (const part of PURE) expect([...pure.keys()].map(partOf), part).toContain(part)
  })
})

/**
 * Who reads the content of repositories: the reader of sources, which reads what decideRead let through, and those that read
 * the repository of the change itself or a fleet. Whoever else needs a file of some repository asks for a decision first.
 */
const READS_CONTENT = [
  'workers/fleets/evaluating-fleets.ts',
  'workers/fleets/fleet-text.ts',
  'workers/fleets/github-installation.ts',
  'workers/fleets/source-reader.ts',
  'workers/in-cluster/work-installation.ts',
  'workers/evaluate/is-fleet-admin.ts',
  'workers/onboarding/prepare-onboarding.ts',
  'workers/offboarding/advance-offboarding.ts',
  'workers/commands/open-change.ts',
  // the fleet itself, and our own branch of it
  'workers/onboarding/plan-read-access.ts',
  'workers/onboarding/plan-tenant-key.ts',
  'workers/fleets/read-credentials.ts',
  'workers/survey/survey-place.ts',
  'workers/jobs/validate-merge-group.ts',
  'workers/evaluate/affected-places.ts',
  'workers/publish/apply-fixes.ts',
  'workers/evaluate/fork-demand.ts',
  'workers/evaluate/evaluate-into.ts',
  'workers/evaluate/evaluate-pull-request.ts',
  'workers/evaluate/statement-of.ts',
]

/** The table, and a text for people that gives an example. Keys of annotations and prose name no kind. */
const NAMES_FLUX_GROUPS = ['src/flux/kinds.ts', 'src/fleet/config/names.ts']

describe('house rules', () => {
  test('`any` stands nowhere, enums and namespaces neither', () => {
    const found = problems(function* (_path, source) {
      const code = codeOnly(source)
      if (/(?:[:<|&,]|\bas|=>|=)\s*any\b(?!\s*[(.:])|\bany\[\]/.test(code)) yield 'any'
      if (/^\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?enum\s+\w/m.test(code)) yield 'enum'
      if (/^\s*(?:export\s+)?(?:declare\s+)?namespace\s+\w/m.test(code)) yield 'namespace'
    }, everything)
    expect(found).toEqual([])
  })

  test('no file is over 400 lines, no function over 60', () => {
    const found = problems(function* (path, source) {
      const lines = source.split('\n')
      // the table of Flux's kinds is data, and one table
      const most = path === 'src/flux/kinds.ts' ? 500 : 400
      if (lines.length - 1 > most) yield `${lines.length - 1} lines, at most ${most}`
      if (path.startsWith('test/')) return
      for (const { name, length } of functionsOf(lines))
        if (length > 60) yield `${name} has ${length} lines, at most 60`
    }, everything)
    expect(found).toEqual([])
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
    expect(found.filter(path => !READS_CONTENT.includes(path))).toEqual([])
  })

  test('groups of Flux are named by the table of its kinds only', () => {
    const group =
      /(['"`])(?:(?:kustomize|helm|source|image|notification)\.toolkit\.fluxcd\.io|source\.extensions\.fluxcd\.io|fluxcd\.controlplane\.io|infra\.contrib\.fluxcd\.io|gitops\.kluctl\.io|cue\.contrib\.flux\.io)(?:\/[A-Zv$]\S*)?\1/
    const found = problems(function* (path, source) {
      const match = group.exec(withoutComments(source))
      if (match && !NAMES_FLUX_GROUPS.includes(path)) yield `${match[0]}: ask src/flux/kinds.ts`
    })
    expect(found).toEqual([])
  })

  test('what a file exports is imported somewhere', () => {
    const imported = new Set([...everything].flatMap(([path, source]) => importedNames(path, source)))
    // the package's declarations name the last two
    const programs = [
      'src/cli/main.ts main',
      'src/kustomize/fields/labels.ts LabelEntry',
      'src/kustomize/fields/replicas.ts ReplicaEntry',
    ]
    const found = [...production].flatMap(([path, source]) =>
      exportsOf(source).flatMap(name =>
        imported.has(`${path} ${name}`) || imported.has(`${path} *`) ? [] : [`${path} ${name}`],
      ),
    )
    expect(found.filter(one => !programs.includes(one))).toEqual([])
  })

  test('where a file is means nothing to it: the bundle holds all of them in others', () => {
    const known = /new URL\('\.[^']+\.ts', import\.meta\.url\)|findPackageJSON\(import\.meta\.url\)/g
    const found = problems(function* (_path, source) {
      const use = /\bimport\.meta\b.*/.exec(withoutComments(source).replaceAll(known, ''))
      if (use) yield use[0]
    })
    expect(found).toEqual([])
  })

  test('no file is called utils, helpers, manager or common', () => {
    const vague = /(?:^|[-/])(?:utils?|helpers?|managers?|common|misc)(?:[-./]|$)/
    expect([...everything.keys()].filter(path => vague.test(path))).toEqual([])
  })

  test('no test is switched off or run alone', () => {
    const found = problems(function* (_path, source) {
      const match = /\b(?:test|it|describe)\.(?:only|todo|skip)\b/.exec(codeOnly(source))
      if (match) yield match[0]
    }, everything)
    expect(found).toEqual([])
  })
})

/** Functions at the top of a file and methods of its classes; the formatter makes where they end plain. */
function* functionsOf(lines: readonly string[]): Generator<{ name: string; length: number }> {
  for (const [start, line] of lines.entries()) {
    const head =
      /^(?<indent>(?: {2})?)(?:export |default |async |static |private )*(?:function\*? )?\*?(?<name>[\w#]+)\(.*$/.exec(
        line,
      )
    if (!head?.groups || /^\s*(?:if|for|while|switch|return|catch)\b/.test(line)) continue
    const { indent = '', name = '' } = head.groups
    if (indent === '' && !line.includes('function')) continue
    const end = lines.findIndex(
      (text, at) => at > start && text.startsWith(indent) && /^[^\s)\]]/.test(text.slice(indent.length)),
    )
    if (end > 0 && lines[end] === `${indent}}`) yield { name, length: end - start + 1 }
  }
}

/** `file name` for each name that is imported from a file of ours, statically or by `import()`. */
function importedNames(path: string, source: string): string[] {
  const text = withoutComments(source)
  const lists = [
    /\b(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?\{(?<names>[^}]*)\}\s*from\s*['"](?<from>\.[^'"]+)['"]/g,
    /\{(?<names>[^{}]*)\}\s*=\s*await\s+import\(\s*['"](?<from>\.[^'"]+)['"]/g,
    /\bimport\s+(?<names>\*)\s+as\s+\w+\s+from\s*['"](?<from>\.[^'"]+)['"]/g,
    /\bimport\(\s*['"](?<from>\.[^'"]+)['"]\s*\)\)?\.(?<names>\w+)/g,
  ]
  return lists.flatMap(list =>
    [...text.matchAll(list)].flatMap(({ groups: { names = '', from = '' } = {} }) =>
      names.split(',').map(
        name =>
          `${resolveFrom(path, from)} ${name
            .trim()
            .split(/\s+as\s+|:/)[0]
            ?.replace(/^type /, '')}`,
      ),
    ),
  )
}

const TYPES = 'class|interface|type'

function exportsOf(source: string, kinds = `function\\*?|const|let|${TYPES}`): string[] {
  const declared = new RegExp(
    String.raw`^export (?:default )?(?:abstract )?(?:async )?(?:${kinds})\s+([A-Za-z_$][\w$]*)`,
    'gm',
  )
  return [...codeOnly(source).matchAll(declared)].map(match => match[1] ?? '')
}

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
