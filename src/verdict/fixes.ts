import { hash } from 'node:crypto'
import type { Finding, Verdict } from '../rules/model/finding.ts'
import { editText, linesOfText, type TextEdit } from './edit-text.ts'
import { ofLastText, shownLines, writtenField } from './written-lines.ts'

/** An edit of one file that certainly fixes findings. */
export interface Fix extends TextEdit {
  readonly path: string
  /** The lines as they are. */
  readonly before: readonly string[]
  /** What it fixes, one finding for each rule and object. */
  readonly findings: readonly Finding[]
  /** Identifies this edit of this object, wherever it is written. */
  readonly id: string
  /** A unified diff of the edit, with that of the edits next to it; absent where it cannot be shown. */
  readonly patch?: readonly string[]
}

/**
 * Returns the certain fixes of new findings in the files of one repository, by file and line. `read` returns the text
 * of a file. If fixes overlap, only the first is returned; the next verdict offers the other.
 */
export function fixesOf(verdict: Verdict, repository: string, read: (path: string) => string | undefined): Fix[] {
  const fixes = new Map<string, Fix>()
  const texts = ofLastText(read)
  for (const finding of [...verdict.violations, ...verdict.warnings]) {
    const { edit, origin, state } = finding
    if (state !== 'new' || edit === undefined || origin.repository !== repository || origin.file === '') continue
    const field = 'remove' in edit || 'rename' in edit ? finding.field : writtenField(finding)
    const text = field === undefined ? undefined : texts(origin.file)
    if (text === undefined || field === undefined) continue
    const made = editText(text, { field, line: origin.line, column: origin.column }, edit)
    if (!made) continue
    const key = JSON.stringify([origin.file, made])
    const known = fixes.get(key)
    if (known) fixes.set(key, { ...known, findings: withFinding(known.findings, finding) })
    else {
      const before = linesOfText(text).slice(made.first - 1, made.last)
      fixes.set(key, { ...made, path: origin.file, before, findings: [finding], id: idOf(finding, made) })
    }
  }
  return withPatches(disjoint([...fixes.values()].sort(byPlace)), texts)
}

/** Edits of adjacent lines have one diff: neither applies before or after the other alone. */
function withPatches(fixes: readonly Fix[], read: (path: string) => string | undefined): Fix[] {
  const joined: { readonly path: string; readonly edit: TextEdit; readonly of: readonly Fix[] }[] = []
  for (const fix of fixes) {
    const last = joined.at(-1)
    if (last?.path !== fix.path || last.edit.last + 1 < fix.first) joined.push({ path: fix.path, edit: fix, of: [fix] })
    else {
      const { first, lines } = last.edit
      joined[joined.length - 1] = {
        path: fix.path,
        edit: { first, last: fix.last, lines: [...lines, ...fix.lines] },
        of: [...last.of, fix],
      }
    }
  }
  return [...Map.groupBy(joined, ({ path }) => path)].flatMap(([path, own]) => {
    const text = read(path)
    const edits = own.map(({ edit }) => edit)
    return own.flatMap(({ edit, of }) => {
      const patch = text === undefined ? undefined : fixPatch({ path, text, edits }, edit)
      return patch ? of.map(fix => ({ ...fix, patch })) : of
    })
  })
}

/** Applies fixes to the text of a file. */
export function applyFixes(text: string, fixes: readonly Fix[]): string {
  const lines = text.split('\n')
  for (const { first, last, lines: instead } of [...fixes].sort((a, b) => b.first - a.first)) {
    lines.splice(first - 1, last - first + 1, ...instead)
  }
  return lines.join('\n')
}

function withFinding(findings: readonly Finding[], finding: Finding): readonly Finding[] {
  const isKnown = findings.some(one => one.rule === finding.rule && sameObject(one, finding))
  return isKnown ? findings : [...findings, finding]
}

const sameObject = (one: Finding, other: Finding) => JSON.stringify(one.object) === JSON.stringify(other.object)

function idOf({ rule, object, field }: Finding, { lines }: TextEdit): string {
  return hash('sha256', JSON.stringify([rule, object, field, lines])).slice(0, 20)
}

function byPlace(one: Fix, other: Fix): number {
  if (one.path !== other.path) return one.path < other.path ? -1 : 1
  return one.first - other.first || one.last - other.last || (one.id < other.id ? -1 : 1)
}

function disjoint(fixes: readonly Fix[]): Fix[] {
  const kept: Fix[] = []
  // one field at one place that findings would set to different values, for example in a base of two tenants: none is certain
  const certain = [...Map.groupBy(fixes, placeOf).values()].flatMap(same => (same.length === 1 ? same : []))
  for (const fix of certain) {
    const last = kept.at(-1)
    if (last?.path !== fix.path || fix.first > last.last) kept.push(fix)
  }
  return kept
}

function placeOf({ path, findings: [finding] }: Fix): string {
  const { line, column } = finding?.origin ?? {}
  return JSON.stringify([path, line, column, finding && writtenField(finding)?.split('/').at(-1)])
}

const CONTEXT = 3
const MAX_LINES = 80

/** A file with certain edits, and the lines that another edit of it changes, which are no context. */
interface EditedFile {
  readonly path: string
  readonly text: string
  readonly edits: readonly TextEdit[]
}

const shownOfFile = ofLastText(shownLines)

/**
 * One edit as a unified diff that `git apply` and `patch` take. Undefined if it cannot be shown: it or the line after it has a
 * credential or hidden characters, or it is longer than 80 lines. `edit`: lines of the file; all edits of `file` apply to the
 * same text, in any order.
 */
export function fixPatch({ path, text, edits }: EditedFile, edit: TextEdit): readonly string[] | undefined {
  const shown = shownOfFile(text)
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

/** The change of a whole file as a unified diff that `git apply` takes; undefined on one side: the file is not there. */
export function filePatch(path: string, before: string | undefined, after: string | undefined): readonly string[] {
  const file = pathText(path)
  if (file === undefined || before === after) return []
  const linesOf = (text: string | undefined): readonly string[] => text?.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const [old, now] = [linesOf(before), linesOf(after)]
  const most = Math.min(old.length, now.length)
  const same = (at: (lines: readonly string[], index: number) => string | undefined, up: number) =>
    range(0, up - 1).find(index => at(old, index) !== at(now, index)) ?? up
  const lead = same((lines, index) => lines[index], most)
  const trail = same((lines, index) => lines.at(-1 - index), most - lead)
  const from = Math.max(0, lead - CONTEXT)
  const until = (lines: readonly string[]) => Math.min(lines.length, lines.length - trail + CONTEXT)
  const [ends, endsNow] = [until(old), until(now)]
  const hunk = [
    ...old.slice(from, lead).map(line => ` ${line}`),
    ...old.slice(lead, old.length - trail).map(line => `-${line}`),
    ...now.slice(lead, now.length - trail).map(line => `+${line}`),
    ...old.slice(old.length - trail, ends).map(line => ` ${line}`),
  ].flatMap(line => (line.endsWith('\n') ? [line.slice(0, -1)] : [line, NO_NEWLINE]))
  const span = (lines: readonly string[], end: number) => `${lines.length === 0 ? 0 : from + 1},${end - from}`
  return [
    before === undefined ? '--- /dev/null' : `--- ${file('a')}`,
    after === undefined ? '+++ /dev/null' : `+++ ${file('b')}`,
    `@@ -${span(old, ends)} +${span(now, endsNow)} @@`,
    ...hunk,
  ]
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
