import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

export interface Import {
  readonly specifier: string
  /** A type import leaves nothing behind at run time; a dynamic one loads when it is reached. */
  readonly how: 'value' | 'type' | 'dynamic'
}

const root = join(import.meta.dirname, '../../..')

/** The text of each source file of the product, by its path. */
export const production = read('{src,workers}/**/*.ts')
/** And of tests, benches and tools. */
export const everything = new Map([...production, ...read('{test,tools,bench,build,docs}/**/*.ts')])

function read(pattern: string): Map<string, string> {
  const paths = globSync(pattern, { cwd: root }).sort()
  return new Map(paths.map(path => [path, readFileSync(join(root, path), 'utf8')]))
}

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/
const REGEXP = /(?<=[=(,:;!&|?{}[\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/
const TOKEN = new RegExp(`(${COMMENT.source})|(${STRING.source})|(${REGEXP.source})`, 'g')

export const withoutComments = (source: string) =>
  source.replace(TOKEN, (text, comment) => (comment === undefined ? text : ' '))
export const codeOnly = (source: string) => source.replace(TOKEN, ' _ ')

export function importsOf(source: string): Import[] {
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

export const resolveFrom = (path: string, specifier: string) => posix.normalize(posix.join(dirname(path), specifier))

/** `file name` for each name that is imported from a file of ours, statically or by `import()`. */
export function importedNames(path: string, source: string): string[] {
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

export const TYPES = 'class|interface|type'

export function exportsOf(source: string, kinds = `function\\*?|const|let|${TYPES}`): string[] {
  const declared = new RegExp(
    String.raw`^export (?:default )?(?:abstract )?(?:async )?(?:${kinds})\s+([A-Za-z_$][\w$]*)`,
    'gm',
  )
  return [...codeOnly(source).matchAll(declared)].map(match => match[1] ?? '')
}
