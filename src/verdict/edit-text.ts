import {
  at,
  canonical,
  type Field,
  type MapNode,
  type Node,
  type Path,
  textNode,
  withField,
  withoutField,
} from '../kube/node.ts'
import type { Edit } from '../rules/model/finding.ts'
import { documentsOf, ofLastText, SEPARATOR } from './written-lines.ts'

/** Lines `first` to `last` (1-based, inclusive) of a file in other words; no lines: they are removed. */
export interface TextEdit {
  readonly first: number
  readonly last: number
  readonly lines: readonly string[]
}

/** The field of a file to edit: `field` is its JSON pointer in the object, at the place that the finding names. */
interface EditPlace {
  readonly field: string
  readonly line: number
  readonly column: number
}

/** A longer suggestion is not read. */
const MAX_TEXT = 1024 * 1024
/** Values that mean the same with and without quotes for every reader of YAML. */
const SAFE = /^(?:[A-Za-z][A-Za-z\d._/-]{0,252}|\d{1,9}[smh])$/

const documentsOfFile = ofLastText(documentsOf)

export const linesOfText = ofLastText(text => text.split('\n'))

/**
 * Turns an edit of a field into an edit of its lines. Undefined unless it is certain: the edited document is parsed again
 * and must differ in this field only. Anchors, nested values in flow style, fields that begin a list item, and multi-line values other
 * than plain blocks are left to people.
 */
export function editText(text: string, place: EditPlace, edit: Edit): TextEdit | undefined {
  if (text.length > MAX_TEXT || text.includes('\r')) return undefined
  const before = documentsOfFile(text)
  const named = before && fieldOf(before, place, edit)
  const found = before && named && ('remove' in edit ? withoutRest(before, named) : named)
  if (!before || !found) return undefined
  const lines = linesOfText(text)
  const made = changeOf(lines, found, nameOf(place.field), edit)
  if (!made) return undefined
  const start = Math.max(
    0,
    lines.slice(0, made.first).findLastIndex(line => SEPARATOR.test(line)),
  )
  const next = lines.findIndex((line, index) => index >= made.last && SEPARATOR.test(line))
  const end = next < 0 ? lines.length : next
  const after = documentsOf(
    [...lines.slice(start, made.first - 1), ...made.lines, ...lines.slice(made.last, end)].join('\n'),
  )
  const wanted = before.flatMap((node, index) => {
    const isElsewhere = node.origin.line <= start || node.origin.line > end
    if (index === found.document) return [edited(node, found, edit, nameOf(place.field))]
    return isElsewhere ? [] : [node]
  })
  return after && textOf(after) === textOf(wanted) ? made : undefined
}

function changeOf(lines: readonly string[], found: FoundField, name: string, edit: Edit): TextEdit | undefined {
  if ('remove' in edit) return removal(lines, found)
  if ('set' in edit) return setting(lines, found, edit.set)
  return 'add' in edit ? addition(lines, found, name, edit.add) : renaming(lines, found, name, edit.rename)
}

/** What an added field is added to has the name of the step before. */
function fieldOf(documents: readonly Node[], place: EditPlace, edit: Edit): FoundField | undefined {
  const name = 'add' in edit ? nameOf(place.field, 2) : nameOf(place.field)
  const found = findField(documents, name, place)
  if (!found || withinMerge(documents, found)) return undefined
  // of an operation of a patch only the value can be set
  return 'set' in edit || found.path.at(-1) === name ? found : undefined
}

/** An empty map of these would be written as null, or name nothing. */
const GOES_WITH_THE_LAST = ['labels', 'annotations', 'proxySecretRef']

/** A map of which nothing is left goes, too. */
function withoutRest(documents: readonly Node[], found: FoundField): FoundField {
  const path = found.path.slice(0, -1)
  const name = path.at(-1)
  if (found.parent.fields.size > 1 || name === undefined || !GOES_WITH_THE_LAST.includes(String(name))) return found
  const parent = at(documents[found.document], path.slice(0, -1))
  const field = parent?.type === 'map' ? parent.fields.get(String(name)) : undefined
  return parent?.type === 'map' && field ? { ...found, path, field, parent } : found
}

/** A field that a merge key brought is written somewhere else, too. */
function withinMerge(documents: readonly Node[], { document, path }: FoundField): boolean {
  let here: Node | undefined = documents[document]
  for (const step of path) {
    const field: Field | undefined = here?.type === 'map' ? here.fields.get(String(step)) : undefined
    if (field?.merged) return true
    here = here?.type === 'list' ? here.items[Number(step)] : field?.value
  }
  return false
}

function nameOf(field: string, fromEnd = 1): string {
  return (field.split('/').at(-fromEnd) ?? '').replaceAll('~1', '/').replaceAll('~0', '~')
}

function removal(lines: readonly string[], { field, parent }: FoundField): TextEdit | undefined {
  if (parent.flow) return flowRemoval(lines, field)
  const indent = field.key.column - 1
  if (!beginsLine(lines, field)) return undefined
  const first = field.key.line
  let last = first
  for (let line = first + 1; line <= lines.length; line++) {
    const text = lines[line - 1]!
    if (text.trim() === '') continue
    const own = text.length - text.trimStart().length
    const isItem = field.value.type === 'list' && own === indent && /^-(?: |$)/.test(text.trimStart())
    if (own <= indent && !isItem) break
    last = line
  }
  return { first, last, lines: [] }
}

/** With the comma behind it, or of the last one with that before it. */
function flowRemoval(lines: readonly string[], { key, value }: Field): TextEdit | undefined {
  if (value.type !== 'scalar' || value.origin.line !== key.line) return undefined
  const line = lines[key.line - 1] ?? ''
  const behind = SCALAR.exec(line.slice(value.origin.column - 1))
  if (!behind) return undefined
  const [before, after] = [line.slice(0, key.column - 1), line.slice(value.origin.column - 1 + behind[0].length)]
  const comma = /^ *, */.exec(after)
  const rest = comma ? before + after.slice(comma[0].length) : before.replace(/ *, *$/, '') + after
  return { first: key.line, last: key.line, lines: [rest] }
}

/** A value on one line, without anchors. */
const SCALAR = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#,[\]{}&*!|>%@`][^\s#,[\]{}]*)/

function setting(lines: readonly string[], { field }: FoundField, value: string): TextEdit | undefined {
  const { value: node } = field
  if (node.type !== 'scalar' || node.style !== undefined || !SAFE.test(value)) return undefined
  const line = lines[node.origin.line - 1] ?? ''
  const start = node.origin.column - 1
  const written = SCALAR.exec(line.slice(start))?.[0]
  if (!written) return undefined
  return {
    first: node.origin.line,
    last: node.origin.line,
    lines: [line.slice(0, start) + value + line.slice(start + written.length)],
  }
}

function addition(lines: readonly string[], { field }: FoundField, name: string, value: string): TextEdit | undefined {
  if (field.value.type !== 'map' || !SAFE.test(value) || !SAFE.test(name)) return undefined
  const [next] = field.value.fields.values()
  const { line: first, column } = next?.key ?? { line: 0, column: 0 }
  const line = lines[first - 1]
  if (!next || line === undefined) return undefined
  if (field.value.flow) {
    // JSON quotes its keys
    const added = line[column - 1] === '"' ? `${JSON.stringify(name)}: ${JSON.stringify(value)}` : `${name}: ${value}`
    return { first, last: first, lines: [`${line.slice(0, column - 1)}${added}, ${line.slice(column - 1)}`] }
  }
  return beginsLine(lines, next)
    ? { first, last: first, lines: [`${' '.repeat(column - 1)}${name}: ${value}`, line] }
    : undefined
}

/** The key in another word, as it is written, without quotes or anchors. */
function renaming(
  lines: readonly string[],
  { field, parent }: FoundField,
  name: string,
  wanted: string,
): TextEdit | undefined {
  if (parent.fields.has(wanted) || !SAFE.test(wanted) || !SAFE.test(name)) return undefined
  const { line, column } = field.key
  const text = lines[line - 1] ?? ''
  const rest = text.slice(column - 1 + name.length)
  if (!text.startsWith(name, column - 1) || !/^:(?: |$)/.test(rest)) return undefined
  return { first: line, last: line, lines: [`${text.slice(0, column - 1)}${wanted}${rest}`] }
}

/** Only spaces come before the key. */
function beginsLine(lines: readonly string[], { key }: Field): boolean {
  return (lines[key.line - 1] ?? '').slice(0, key.column - 1).trim() === ''
}

function edited(document: Node, { path, parent, field }: FoundField, edit: Edit, name: string): Node {
  if ('remove' in edit) return replaced(document, path.slice(0, -1), withoutField(parent, String(path.at(-1))))
  if ('set' in edit) return replaced(document, path, textOrFlag(edit.set, field))
  if ('rename' in edit) {
    const renamed = withField(withoutField(parent, String(path.at(-1))), edit.rename, field.value)
    return replaced(document, path.slice(0, -1), renamed)
  }
  if (field.value.type !== 'map') return document
  return replaced(document, path, withField(field.value, name, textNode(edit.add, field.key)))
}

function textOrFlag(value: string, { key }: Field): Node {
  if (value !== 'true' && value !== 'false') return textNode(value, key)
  return { type: 'scalar', value: value === 'true', origin: key }
}

function replaced(node: Node, path: Path, value: Node): Node {
  const [step, ...rest] = path
  if (step === undefined) return value
  if (node.type === 'map') return withField(node, String(step), replaced(fieldAt(node, String(step)), rest, value))
  if (node.type !== 'list') return node
  return { ...node, items: node.items.map((item, index) => (index === step ? replaced(item, rest, value) : item)) }
}

function fieldAt(node: MapNode, key: string): Node {
  return node.fields.get(key)?.value ?? node
}

const textOf = (documents: readonly Node[]): string => documents.map(canonical).join('\n')

/** A field of one document of a file, and where it is written. */
interface FoundField {
  readonly document: number
  readonly path: Path
  readonly field: Field
  readonly parent: MapNode
}

/** The value of a JSON 6902 operation that writes a field of that name. */
function isPatchOf({ fields }: MapNode, key: string, name: string): boolean {
  const path = fields.get('path')?.value
  if (key !== 'value' || !fields.has('op') || path?.type !== 'scalar') return false
  return String(path.value).split('/').at(-1) === name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/**
 * Finds the field of that name at that place (the position of a scalar, else of its key, as in findings). Undefined if
 * there is none or several: a value repeated by an alias cannot be fixed in one place. The
 * `value` of a JSON 6902 operation is found by the field that the operation writes.
 */
function findField(documents: readonly Node[], name: string, place: EditPlace): FoundField | undefined {
  const found: FoundField[] = []
  const visit = (node: Node, document: number, path: Path): void => {
    if (node.type === 'scalar') return
    if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) visit(item, document, [...path, index])
      return
    }
    for (const [key, field] of node.fields) {
      const here = [...path, key]
      // a field that is dropped has no value, and is named by its key
      const stands = [field.key, ...(field.value.type === 'scalar' ? [field.value.origin] : [])]
      const isThere = stands.some(({ line, column }) => line === place.line && column === place.column)
      if (isThere && (key === name || isPatchOf(node, key, name))) {
        found.push({ document, path: here, field, parent: node })
      }
      visit(field.value, document, here)
    }
  }
  for (const [index, node] of documents.entries()) {
    // documents follow each other
    const end = documents[index + 1]?.origin.line ?? place.line
    if (node.origin.line <= place.line && place.line <= end) visit(node, index, [])
  }
  return found.length === 1 ? found[0] : undefined
}
