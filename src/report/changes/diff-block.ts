import type { Fate, FieldChange, ObjectChange } from '../../diff/changes.ts'
import { display } from '../../kube/object.ts'
import { fenced } from '../../message/fenced.ts'
import { visible } from '../../message/visible.ts'

/** How much of a diff is told: all of it, without context, or only how much there is of each object. */
export type Detail = 'full' | 'short' | 'counts'

const MAX_FIELDS: Readonly<Record<Detail, number>> = { full: 60, short: 12, counts: 0 }
/** What is added as a whole is context: it stands in the change as its author wrote it. */
const MAX_ADDED: Readonly<Record<Detail, number>> = { full: 15, short: 0, counts: 0 }
const MAX_LINES: Readonly<Record<Detail, number>> = { full: 41, short: 6, counts: 0 }

const FATES: Readonly<Record<Fate, string>> = {
  deleted: 'will be DELETED',
  orphaned: 'stays on the cluster, no longer managed by Flux',
  kept: 'no longer rendered; kept by its own annotation',
  suspended: 'no longer rendered; kept while its Kustomization is suspended',
  moved: 'moves',
}

/**
 * Objects as a fenced block of GitHub's `diff`, each below a line that names it. Nothing in it can end the fence, and
 * GitHub reads no mention, reference, link or HTML in a fence.
 */
export function diffBlock(objects: readonly ObjectChange[], detail: Detail): string {
  const lines = objects.flatMap(object => objectLines(object, detail))
  return fenced('diff', lines)
}

function objectLines(object: ObjectChange, detail: Detail): string[] {
  const name = visible(display(object.id), 300)
  const more = detail === 'counts' && object.fieldCount > 0 ? `, ${fieldsText(object.fieldCount)}` : ''
  const head = `@@ ${name}: ${whatHappens(object)}${more} @@`
  const most = object.change === 'added' ? MAX_ADDED[detail] : MAX_FIELDS[detail]
  const shown = object.fields.slice(0, most)
  const left = object.fieldCount - shown.length
  const rest = left > 0 && detail !== 'counts' ? [`  … and ${fieldsText(left)}${shown.length > 0 ? ' more' : ''}`] : []
  return [head, ...shown.flatMap(field => fieldLines(field, detail)), ...rest]
}

const fieldsText = (count: number): string => `${count} field${count === 1 ? '' : 's'}`

/** What becomes of an object, as a part of a sentence; may hold the name of another Kustomization. */
export function whatHappens({ change, fate, node, from, forced }: ObjectChange): string {
  const other = visible(node ?? '', 200)
  if (change === 'removed') return fate === 'moved' ? `moves to ${other}` : FATES[fate ?? 'kept']
  if (from !== undefined) {
    return `moved from namespace ${visible(from, 200)}${fate === 'deleted' ? ', where it will be DELETED' : ''}`
  }
  if (change === 'moved') return `moves here from ${other}`
  if (change !== 'replaced') return change
  return forced ? 'replaced: deleted and created again' : 'changes an immutable field, which the API server rejects'
}

/** A field before and after, behind `-` and `+`. */
export function fieldLines({ path, change, was, now, lines, hidden }: FieldChange, detail: Detail): string[] {
  if (change === 'order') return [`!  ${path}: order changed`]
  if (hidden) return [`!  ${path}: ${change}, not shown`]
  if (lines) {
    const shown = lines.slice(0, MAX_LINES[detail])
    const left = lines.length - shown.length
    return [`   ${path}:`, ...shown.map(indented), ...(left > 0 ? [`     … and ${left} lines more`] : [])]
  }
  return [...(was === undefined ? [] : [`-  ${path}: ${was}`]), ...(now === undefined ? [] : [`+  ${path}: ${now}`])]
}

/** The mark stays in the first column, where it gives the line its colour. */
const indented = (line: string): string => `${line.slice(0, 1)}    ${line.slice(2)}`
