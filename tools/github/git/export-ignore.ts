import type { ObjectStore } from './store.ts'
import { walk } from './trees.ts'

interface Rule {
  readonly pattern: RegExp
  readonly ignore: boolean
}

/**
 * Which paths `git archive` leaves out: `export-ignore` in any `.gitattributes`, the deepest file and the last line
 * win, and what lies below an ignored directory goes with it (gitattributes(5)).
 */
export function exportIgnored(store: ObjectStore, tree: string): (path: string) => boolean {
  const rules: Rule[] = []
  const files = [...walk(store, tree)].filter(
    ({ path }) => path === '.gitattributes' || path.endsWith('/.gitattributes'),
  )
  files.sort((a, b) => a.path.split('/').length - b.path.split('/').length)
  for (const { path, item } of files) {
    const text = Buffer.from(store.blob(item.sha) ?? []).toString()
    rules.push(...text.split('\n').flatMap(line => rule(path.slice(0, -'.gitattributes'.length), line)))
  }
  const marked = (path: string) => rules.findLast(({ pattern }) => pattern.test(path))?.ignore ?? false
  return path => {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      if (marked(path.slice(0, at))) return true
    }
    return marked(path)
  }
}

function rule(directory: string, line: string): Rule[] {
  const [pattern, ...attributes] = line.trim().split(/[ \t]+/)
  if (!pattern || pattern.startsWith('#') || pattern.startsWith('!')) return []
  const last = attributes.findLast(attribute => /^[-!]?export-ignore$/.test(attribute))
  if (last === undefined) return []
  return [{ pattern: glob(directory, pattern), ignore: last === 'export-ignore' }]
}

function glob(directory: string, pattern: string): RegExp {
  const anchored = pattern.slice(0, -1).includes('/')
  const body = pattern
    .replace(/^\//, '')
    .split(/(\*\*\/|\/\*\*$|\*|\?|\[[^\]]+\])/)
    .map(translate)
    .join('')
  const escaped = directory.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped}${anchored ? '' : '(?:.*/)?'}${body}$`)
}

function translate(part: string): string {
  if (part === '**/') return '(?:.*/)?'
  if (part === '/**') return '/.*'
  if (part === '*') return '[^/]*'
  if (part === '?') return '[^/]'
  if (part.startsWith('[') && part.endsWith(']')) return part.replace('[!', '[^')
  return part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
