import type { TextEdit } from './edit-text.ts'
import { shownLines } from './shown-lines.ts'

const CONTEXT = 3
const MAX_LINES = 80

/** A file with certain edits, and the lines that another edit of it changes, which are no context. */
interface EditedFile {
  readonly path: string
  readonly text: string
  readonly edits: readonly TextEdit[]
}

/**
 * One edit as a unified diff that `git apply` and `patch` take. Undefined if it cannot be shown: it or the line after it has a
 * credential or hidden characters, or it is longer than 80 lines. `edit`: lines of the file; all edits of `file` apply to the
 * same text, in any order.
 */
export function fixPatch({ path, text, edits }: EditedFile, edit: TextEdit): readonly string[] | undefined {
  const shown = shownLines(text)
  const total = text.endsWith('\n') ? shown.length - 1 : shown.length
  const isFree = (line: number) =>
    line >= 1 && line <= total && shown[line - 1] !== undefined && !edits.some(one => one !== edit && covers(one, line))
  const { first, last, lines: added } = edit
  const removed = range(first, last).map(line => shown[line - 1])
  const file = pathText(path)
  if (file === undefined || removed.includes(undefined) || removed.length + added.length > MAX_LINES) return undefined
  if (shownLines(added.join('\n')).includes(undefined)) return undefined
  const before = range(first - CONTEXT, first - 1)
  const start = before.findLastIndex(line => !isFree(line)) + 1
  const after = range(last + 1, last + CONTEXT)
  const end = after.findIndex(line => !isFree(line))
  const lead = before.slice(start)
  const trail = end < 0 ? after : after.slice(0, end)
  // without a line after it, git takes a hunk for the end of the file
  if (trail.length === 0 && last < total) return undefined
  const hunk = [
    ...lead.map(line => [line, ` ${shown[line - 1]}`] as const),
    ...removed.map((line, index) => [first + index, `-${line}`] as const),
    ...added.map((line, index) => [index === added.length - 1 && last === total ? total : 0, `+${line}`] as const),
    ...trail.map(line => [line, ` ${shown[line - 1]}`] as const),
  ].flatMap(([line, shownAs]) => (line === total && !text.endsWith('\n') ? [shownAs, NO_NEWLINE] : [shownAs]))
  const [from, to] = [first - lead.length, lead.length + trail.length]
  const head = `@@ -${from},${to + removed.length} +${from},${to + added.length} @@`
  return [`--- ${file('a')}`, `+++ ${file('b')}`, head, ...hunk]
}

const NO_NEWLINE = '\\ No newline at end of file'

const covers = ({ first, last }: TextEdit, line: number) => first <= line && line <= last

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at)

/** As git writes a name: quoted where it has other than plain characters, and with a tab behind a name with spaces. */
function pathText(path: string): ((side: 'a' | 'b') => string) | undefined {
  if (path === '' || path.length > 1000 || !path.isWellFormed()) return undefined
  if (/^[\x20-\x7e]+$/.test(path) && !/["\\]/.test(path))
    return side => `${side}/${path}${path.includes(' ') ? '\t' : ''}`
  const bytes = [...new TextEncoder().encode(path)]
  const quoted = bytes.map(byte => {
    const character = String.fromCharCode(byte)
    if (character === '"' || character === '\\') return `\\${character}`
    return byte >= 0x20 && byte < 0x7f ? character : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return side => `"${side}/${quoted.join('')}"`
}
