import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DURATIONS, type Durations } from './runner/longest-first.ts'
import { codeOnly, everything, exportsOf, importedNames, importsOf, production, resolveFrom } from './runner/sources.ts'

/** What a guard counts: a number, or the places that it is the number of. */
type Measured = number | readonly string[]

const root = join(import.meta.dirname, '../..')
const linesOf = (text: string) => text.split('\n').length - 1
const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0)

/** Every guard by its name in guards.json, and how it is counted. */
export const GUARDS: Readonly<Record<string, () => Measured>> = {
  'lines of src and workers': () => sum([...production.values()].map(linesOf)),
  'files of src and workers': () => production.size,
  'folders in src': () => new Set([...production.keys()].flatMap(path => /^src\/([^/]+)\//.exec(path)?.[1] ?? [])).size,
  'lines of tests with their data': () => linesIn('test'),
  'lines of tools': () => linesIn('tools'),
  'words of docs': () => sum([...globSync('docs/**/*.md', { cwd: root }), 'README.md'].map(wordsOf)),
  'files under 25 lines with one importer': smallFiles,
  'imports across the folders of src': () => ways().filter(([from, to]) => topOf(from) !== topOf(to)).length,
  'circles of imports, dynamic ones too': () => circles(),
  'forbidden words in src and workers': () =>
    sum([...production.values()].map(text => text.match(FORBIDDEN)?.length ?? 0)),
  'files over 450 lines': () => [...everything].flatMap(([path, text]) => (linesOf(text) > 450 ? [path] : [])),
  'functions over 60 lines': () =>
    [...everything].flatMap(([path, text]) =>
      /^(?:test|tools)\//.test(path)
        ? []
        : [...functionsOf(text.split('\n'))].flatMap(({ name, length }) => (length > 60 ? [`${path} ${name}`] : [])),
    ),
  'exports that nothing imports': () => unusedExports(everything),
  'exports that only tests, benches and tools import': () => unusedExports(production),
  'seconds of the slowest test file': () => Math.max(...Object.values(secondsOfFiles())),
  'test files of 30 seconds and more': () =>
    Object.entries(secondsOfFiles()).flatMap(([path, seconds]) => (seconds >= 30 ? [path] : [])),
}

/** style.md: a text names the actor, and what is not. */
const FORBIDDEN = /\b(?:said|nobody|somebody|whoever|told)\b|\bis no [a-z]/gi

const textOf = (path: string) => readFileSync(join(root, path), 'utf8')
/** Files that are written by a command. */
const OWN = ['guards.json', 'durations.json']
const linesIn = (folder: string) =>
  sum(
    globSync(`${folder}/**/*.{ts,js,json,yaml,yml,md,txt}`, { cwd: root, withFileTypes: true })
      .filter(entry => entry.isFile() && !OWN.includes(entry.name))
      .map(entry => linesOf(readFileSync(join(entry.parentPath, entry.name), 'utf8'))),
  )
const wordsOf = (path: string) => textOf(path).split(/\s+/).filter(Boolean).length

/** `src/git`, `workers`; a file at the top of src is a part of its own. */
const topOf = (path: string) => (path.startsWith('src/') ? path.split('/').slice(0, 2).join('/') : 'workers')

/** Every import of one source file by another. */
function ways(): [from: string, to: string][] {
  return [...production].flatMap(([path, text]) =>
    importsOf(text)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }): [string, string] => [path, resolveFrom(path, specifier)]),
  )
}

function smallFiles(): string[] {
  const importers = Map.groupBy(ways(), ([, to]) => to)
  return [...production].flatMap(([path, text]) =>
    linesOf(text) < 25 && new Set(importers.get(path)?.map(([from]) => from)).size === 1 ? [path] : [],
  )
}

/** Every circle that a depth-first walk closes, imports of types and `import()` included, as the list of its files. */
function circles(): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const next = Map.groupBy(ways(), ([from]) => from)
  const walk = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
      return
    }
    if (done.has(path)) return
    for (const [, to] of next.get(path) ?? []) walk(to, [...trail, path])
    done.add(path)
  }
  for (const path of production.keys()) walk(path, [])
  return found
}

/** What no one of these files imports, and its own file does not use. The package's declarations name three. */
function unusedExports(importers: ReadonlyMap<string, string>): string[] {
  const imported = new Set([...importers].flatMap(([path, text]) => importedNames(path, text)))
  const named = [
    'src/surface/cli/main.ts main',
    'src/kustomize/fields/labels.ts LabelEntry',
    'src/kustomize/fields/replicas.ts ReplicaEntry',
  ]
  const exported = [...production].flatMap(([path, text]) =>
    imported.has(`${path} *`) ? [] : exportsOf(text).flatMap(name => (isUsedIn(text, name) ? [] : [`${path} ${name}`])),
  )
  return exported.filter(one => !imported.has(one) && !named.includes(one))
}

/** Whether a name stands in its file once more than where it is declared. */
const isUsedIn = (text: string, name: string) => codeOnly(text).split(new RegExp(`\\b${name}\\b`)).length > 2

function secondsOfFiles(): Record<string, number> {
  const projects = JSON.parse(readFileSync(DURATIONS, 'utf8')) as Durations
  const files = Object.values(projects).flatMap(Object.entries<number>)
  return Object.fromEntries(files.filter(([path]) => existsSync(join(root, path))))
}
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

/** The number of what was measured. */
export const numberOf = (measured: Measured): number => (typeof measured === 'number' ? measured : measured.length)

export const LIMITS = join(import.meta.dirname, 'guards.json')

/** `npm run guards` prints every number beside its limit; `-- --set` makes today's numbers the limits. */
if (import.meta.main) {
  const limits: Record<string, number> = existsSync(LIMITS) ? JSON.parse(readFileSync(LIMITS, 'utf8')) : {}
  const today = Object.fromEntries(Object.entries(GUARDS).map(([name, measure]) => [name, numberOf(measure())]))
  for (const [name, value] of Object.entries(today)) console.log(`${value} (limit ${limits[name] ?? 'none'})  ${name}`)
  if (process.argv.includes('--set')) writeFileSync(LIMITS, `${JSON.stringify(today, null, 2)}\n`)
}
