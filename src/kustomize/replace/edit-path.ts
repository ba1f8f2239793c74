import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { containsPattern, type StepBudget } from '../../expr/regexp/pattern.ts'
import {
  fieldLike,
  isAbsent,
  type ListNode,
  type Node,
  type ScalarNode,
  withElement,
  writtenText,
} from '../../kube/node.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Entry } from '../entry.ts'
import type { MapEdits } from '../resource/map-edits.ts'

type Place = readonly (string | number)[]

export interface PathEdit {
  /** What is to be made where the path ends at nothing; absent: nothing is made. */
  readonly create?: Node['type']
  /** The place that created parts get as their origin. */
  readonly origin: Origin
  readonly edit: (node: Node, place: Place) => Node
  readonly spend: (steps: number) => void
  readonly edits: MapEdits
}

/**
 * Edits every value at a field path, as the targets of a replacement are found: numbers, `*`, and `[key=expression]`
 * for every element that matches (kyaml's PathMatcher). `count` is their number. Throws `kustomize-invalid` for a path
 * that does not fit the object, `kustomize-unsupported` where kustomize would lose what it writes.
 */
export class PathEditor {
  count = 0
  private readonly how: PathEdit

  constructor(how: PathEdit) {
    this.how = how
  }

  /** Takes what an expression costs. */
  spend(_what: 'steps', amount: number): void {
    this.how.spend(amount)
  }

  walk(node: Node, path: readonly string[], place: Place = []): Node {
    this.how.spend(1)
    const [part, ...rest] = path
    if (part === undefined) {
      this.count++
      return this.how.edit(node, place)
    }
    const index = indexPart(part)
    if (index !== undefined && index >= 0) return this.index(node, index, rest, place)
    if (isElementPart(part)) return this.elements(node, part, rest, place)
    if (part === '*') return this.every(node, rest, place)
    return this.field(node, part, rest, place)
  }

  private field(node: Node, name: string, rest: readonly string[], place: Place): Node {
    if (isAbsent(node)) return this.nothingIn(node)
    if (node.type !== 'map') return this.misfit(node, `the parent of ${name} is not a map`)
    const field = node.fields.get(name)
    if (!field && !this.how.create) return node
    const child = field?.value ?? this.made(rest)
    if (child.type === 'scalar' && rest.length > 0) {
      this.insideText(child, rest)
      return node
    }
    const edited = this.walk(child, rest, [...place, name])
    if (edited === field?.value) return node
    return this.how.edits.set(node, name, fieldLike(field, field?.key ?? edited.origin, edited))
  }

  private index(node: Node, index: number, rest: readonly string[], place: Place): Node {
    const list = this.listOf(node)
    const items = list?.items ?? []
    const isNext = items.length === index && this.how.create !== undefined
    if (isNext && !list) return this.nothingIn(node)
    if (!list || (index >= items.length && !isNext)) {
      return this.misfit(node, `the list has ${items.length} items, and none with the index ${index}`)
    }
    const edited = this.walk(items[index] ?? this.made(rest), rest, [...place, index])
    return isNext ? { ...list, items: [...items, edited] } : replaced(list, index, edited)
  }

  private every(node: Node, rest: readonly string[], place: Place): Node {
    const list = this.listOf(node)
    if (!list) return node
    let items: Node[] | undefined
    for (const [index, item] of list.items.entries()) {
      const edited = this.walk(item, rest, [...place, index])
      if (edited === item) continue
      items ??= [...list.items]
      items[index] = edited
    }
    return items ? { ...list, items } : list
  }

  private elements(node: Node, part: string, rest: readonly string[], place: Place): Node {
    const wanted = parseElementPart(part)
    if (!wanted) return this.misfit(node, `${part} is not [field=value]`)
    const list = this.listOf(node)
    if (!list) return this.nothingIn(node)
    const before = this.count
    const edited = this.matching(list, part, rest, place)
    if (this.count > before || !this.how.create) return edited
    const value = untyped(wanted.value, this.how.origin)
    const field = { key: this.how.origin, value }
    const element: Node =
      wanted.key === '' ? value : { type: 'map', fields: new Map([[wanted.key, field]]), origin: this.how.origin }
    const longer = this.matching({ ...list, items: [...edited.items, element] }, part, rest, place)
    // kustomize would add elements without end
    if (this.count === before) this.refuse(node, `${part}, which does not match the item that it creates,`)
    return longer
  }

  private matching(list: ListNode, part: string, rest: readonly string[], place: Place): ListNode {
    const { key, value } = parseElementPart(part)!
    let result = list
    for (const [index, item] of list.items.entries()) {
      this.how.spend(1 + value.length)
      const text = key === '' ? item : item.type === 'map' ? item.fields.get(key)?.value : undefined
      if (!text || !fitsElement({ text: value, origin: this.how.origin }, text, this)) continue
      // what follows an element that is not a map is not looked at
      result = replaced(result, index, this.walk(item, key === '' ? [] : rest, [...place, index]))
    }
    return result
  }

  /** A path may lead into text that holds YAML, but what kustomize changes there on this way is lost. */
  private insideText(text: ScalarNode, rest: readonly string[]): void {
    const inner = readEmbedded(text)
    if (!inner) this.misfit(text, `the parent of ${rest[0]} is an empty string`)
    const editor = new PathEditor({ ...this.how, edit: node => node })
    editor.walk(inner.node, rest)
    if (editor.count > 0) this.refuse(text, 'a path into a string, where kustomize loses the change,')
  }

  private made([next]: readonly string[]): Node {
    const { create, origin } = this.how
    const index = indexPart(next)
    const isList = isElementPart(next) || (index !== undefined && index >= 0)
    const type = isList ? 'list' : next === undefined ? create : 'map'
    if (type === 'list') return { type, items: [], origin }
    return type === 'map' ? { type, fields: new Map(), origin } : untyped('', origin)
  }

  private listOf(node: Node): ListNode | undefined {
    if (isAbsent(node)) return undefined
    return node.type === 'list' ? node : this.misfit(node, 'the field is not a list')
  }

  /** In null there is nothing, and kustomize forgets what it makes there. */
  private nothingIn(node: Node): Node {
    return this.how.create ? this.refuse(node, 'creating a field inside null') : node
  }

  private misfit(node: Node, what: string): never {
    const message = `replacements: the field path does not match ${node.origin.file}:${node.origin.line}: ${what}`
    throw new BailiwickError('kustomize-invalid', message, { origin: this.how.origin })
  }

  private refuse(node: Node, what: string): never {
    const message = `replacements: ${what} is not supported (at ${node.origin.file}:${node.origin.line})`
    throw new BailiwickError('kustomize-unsupported', message, { origin: this.how.origin })
  }
}

function replaced(list: ListNode, index: number, value: Node): ListNode {
  return list.items[index] === value ? list : withElement(list, index, value)
}

/** A scalar as kustomize makes one: its text decides what it is. */
export function untyped(text: string, origin: Origin): ScalarNode {
  const value = resolvePlain(text)
  if (value === undefined) {
    const message = 'a number or date that YAML parsers read differently'
    throw new BailiwickError('yaml-ambiguous', message, { origin })
  }
  // until the object is written, what will be null is a text for kustomize
  if (value === null) return { type: 'scalar', value: text, origin, untyped: true }
  return { type: 'scalar', value, origin, untyped: true, ...(String(value) === text ? {} : { text }) }
}

/**
 * The parts of a field path: dots separate, `\.` is a dot of a name, `[a.b]` is one name, `[key=value]` picks elements
 * of a list and keeps its brackets (kyaml/utils, SmarterPathSplitter).
 */
export function splitFieldPath(path: string): string[] {
  const split = splitEscaped(path)
  const parts: string[] = []
  for (let index = 0; index < split.length; index++) {
    const part = split[index]!
    if (!part.startsWith('[') || part.endsWith(']')) {
      parts.push(part)
      continue
    }
    const bracketed = [part]
    while (index < split.length - 1 && !bracketed.at(-1)!.endsWith(']')) bracketed.push(split[++index]!)
    const text = bracketed.join('.')
    parts.push(text.includes('=') ? text : text.replace(/^[[\]]+/, '').replace(/[[\]]+$/, ''))
  }
  return parts
}

function splitEscaped(path: string): string[] {
  const [first = '', ...rest] = path.split('.')
  const pieces = rest.length > 0 && first === '' ? rest : [first, ...rest]
  const parts: string[] = []
  for (const piece of pieces) {
    const last = parts.at(-1)
    if (last?.endsWith('\\')) parts[parts.length - 1] = `${last.slice(0, -1)}.${piece}`
    else parts.push(piece)
  }
  return parts
}

/** `[key=value]`: elements of a list; `[=value]` for those that are no maps. Undefined: no such part. */
interface ElementPart {
  readonly key: string
  readonly value: string
}

/** Whether a part picks elements of a list. */
export function isElementPart(part: string | undefined): boolean {
  return part?.startsWith('[') === true && part.endsWith(']')
}

/** The parsed element part; undefined where it has no `=`, which kustomize refuses. */
export function parseElementPart(part: string): ElementPart | undefined {
  const inner = part.slice(1, -1)
  const equals = inner.indexOf('=')
  return equals < 0 ? undefined : { key: inner.slice(0, equals), value: inner.slice(equals + 1) }
}

/** The number that a part is for Go's strconv.Atoi; undefined for none. */
export function indexPart(part: string | undefined): number | undefined {
  return part !== undefined && /^[-+]?[0-9]{1,15}$/.test(part) ? Number(part) : undefined
}

/**
 * Whether the expression of `[key=expression]` is found in a value as kustomize writes it, quotes and comments included
 * (kyaml's PathMatcher). Throws `kustomize-unsupported` where that depends on how the value is written.
 */
function fitsElement(expression: Entry, value: Node, budget: StepBudget): boolean {
  const written = writtenForms(value, expression)
  const [first, ...others] = written.map(text => containsPattern(expression, text, budget))
  if (others.some(other => other !== first)) refuse('whose match depends on quotes', value, expression)
  const comments = value.type === 'scalar' ? value.commented : undefined
  if (comments !== undefined && !written.every(text => isSameWith(comments, text, expression))) {
    refuse('that may match a comment', value, expression)
  }
  return first!
}

/** Whether an expression matches a text with and without comments alike: only a word is known to be in one of them. */
const isSameWith = (comments: string, text: string, { text: word }: Entry): boolean =>
  /^[\w/:@-]+$/.test(word) && (text.includes(word) || !comments.includes(word))

function writtenForms(value: Node, expression: Entry): string[] {
  if (value.type !== 'scalar' || value.style)
    return refuse('for a value that is not one line of text', value, expression)
  const text = writtenText(value)
  if (typeof value.value !== 'string' || value.untyped) return [text.trim()]
  const needsQuotes = value.quoted || resolvePlain(text) !== text || !isPlainText(text)
  if (!needsQuotes) return [text]
  if (/[^ -~]|["'\\]/.test(text)) return refuse('for text with special characters', value, expression)
  return [`"${text}"`, `'${text}'`]
}

function refuse(what: string, value: Node, expression: Entry): never {
  const where = `${value.origin.file}:${value.origin.line}`
  const message = `replacements: the expression ${JSON.stringify(expression.text.slice(0, 100))} ${what} is not supported (at ${where})`
  throw new BailiwickError('kustomize-unsupported', message, { origin: expression.origin })
}

/**
 * Whether go-yaml's emitter writes a text without quotes, outside brackets (yaml_emitter_analyze_scalar). The
 * answer is about printable text of one line; for anything else it is that quotes are needed.
 */
export function isPlainText(text: string): boolean {
  if (text === '') return true
  if (!/^[ -~\u00a0-\ud7ff]*$/.test(text) || /^ | $/.test(text)) return false
  if (/^(?:---|\.\.\.)/.test(text)) return false
  if (/^[#,[\]{}&*!|>'"%@`]/.test(text) || /^[-?:](?: |$)/.test(text)) return false
  return !/:(?: |$)| #/.test(text)
}

/** YAML or JSON that stands in a text of an object. */
interface EmbeddedText {
  readonly node: Node
  readonly text: string
}

/**
 * The one document in a text; undefined where there is none. Throws what reading a file throws, at the place of the
 * text, and `kustomize-unsupported` for what kustomize would not write back.
 */
export function readEmbedded(scalar: ScalarNode): EmbeddedText | undefined {
  const text = writtenText(scalar)
  const parsed = parseText(text, () => ({ ...scalar.origin }))
  const [node, second] = parsed.documents
  if (second || parsed.pieces > 1) refuseEmbedded('several documents', scalar.origin)
  if (node) return { node, text }
  const word = text.trim()
  if (word === '' || !isAbsent(scalar)) return undefined
  return { node: { type: 'scalar', value: null, origin: scalar.origin }, text }
}

function refuseEmbedded(what: string, origin: Origin): never {
  const message = `replacements: replacing inside text with ${what} is not supported`
  throw new BailiwickError('kustomize-unsupported', message, { origin })
}
