import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import type { Field, MapNode, Node, ScalarNode } from '../../kube/node.ts'
import { isBlank } from '../../kube/yaml/cursor.ts'
import { isSpecialText, resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import { TextParts } from '../../kube/yaml/scan-scalars.ts'

/*
 * Where kustomize 5.8.1 and kustomize-controller write an object as text and read it back, or go between nodes and plain
 * values. v3 is go.yaml.in/yaml/v3, sigs is sigs.k8s.io/yaml: YAML 1.1 by go-yaml v2, always through JSON.
 *
 * | step | way | here | what changes |
 * |---|---|---|---|
 * | a file of resources or a patch is read | text -> v3 nodes (kio, DeAnchor) | kube/yaml | aliases and merge keys are resolved, a `<<` in quotes is dropped; comments and styles stay |
 * | items of a list | nodes -> values -> JSON -> v3 nodes | load-resources | styles are forgotten, every text and key is in quotes |
 * | a transformer sets a key or value | FieldSetter | edit-node, cell | the key has no quotes and no type, a value perhaps none (`untyped`) |
 * | a JSON6902 patch | MarshalJSON, JSON, UnmarshalJSON | toPlain, fromPlain | see both |
 * | the hash of a generated object | MarshalJSON of its data | toPlain | |
 * | labels, annotations | nodes -> map[string]string -> FieldSetter | annotations | the text as written; keys lose their quotes |
 * | an object of `transformers` or `generators` | AsYAML (MarshalJSON, sigs) | toPlain | |
 * | kustomization.yaml, also the one that Flux generates | sigs -> struct -> sigs, once for each builtin | read-kustomization, typed-root | YAML 1.1 words; control characters fail (`checkTexts`) |
 * | the result of a build | AsYAML (MarshalJSON, sigs) | toPlain | keys beyond 1024 characters and control characters fail |
 * | SOPS decrypts an object | MarshalJSON, JSON, UnmarshalJSON | throughText | numbers are float64 |
 * | postBuild substitutes | AsYAML, text, sigs, UnmarshalJSON | substitute, throughText | YAML 1.1 words in what holds a variable; numbers are float64 |
 * | Flux reads the objects | sigs -> unstructured | read-objects | integers beyond int64 are float64 |
 * | Flux normalizes | unstructured -> Go types -> unstructured | normalise | fields that a type does not have are dropped |
 * | commonMetadata | map[string]string | override-metadata | labels that are not all texts are replaced |
 */

/**
 * A node after kustomize has written its nodes as YAML and read plain values from that (MarshalJSON of an RNode). A
 * key that a transformer set stands there without quotes: `<<` merges what is below it, any other that is not a text
 * ends the build. Folded texts (`>`) get an empty line before a line that is indented more. Throws `kustomize-invalid`,
 * and `yaml-ambiguous` for folded texts that go-yaml would spoil otherwise.
 */
export function toPlain<T extends Node>(node: T): T {
  return written(node) as T
}

/**
 * The nodes that kustomize makes of plain values (UnmarshalJSON of an RNode): numbers go through a float64, and values
 * are written as YAML without any style. go-yaml puts every key in quotes that needs them, but not `<<`. Throws
 * `kustomize-invalid` for a text that cannot be read back.
 */
export function fromPlain(root: MapNode): MapNode {
  return read(root) as MapNode
}

/** An object that is plain already after both, itself where nothing changes. */
export function throughText(root: MapNode): MapNode {
  return isChanged(root) ? toPlain(fromPlain(root)) : root
}

function isChanged(node: Node): boolean {
  if (node.type === 'scalar') {
    return typeof node.value === 'bigint' || (typeof node.value === 'string' && node.value.startsWith('\t'))
  }
  if (node.type === 'list') return node.items.some(isChanged)
  for (const [key, { value }] of node.fields) {
    if (key === '<<' || key.startsWith('\t') || isChanged(value)) return true
  }
  return false
}

/** Throws `kustomize-unsupported` for a text in it that sigs.k8s.io/yaml, which goes through JSON, rejects or changes. */
export function checkTexts(node: Node): void {
  if (node.type === 'list') for (const item of node.items) checkTexts(item)
  else if (node.type === 'scalar') checkCharacters(String(node.value), node.origin)
  else {
    for (const [key, field] of node.fields) {
      checkCharacters(key, field.key)
      checkTexts(field.value)
    }
  }
}

/** The same for one text. */
export function checkCharacters(text: string, origin: Origin): void {
  if (!/[\u007f-\u009f\u2028\u2029\ufffe\uffff]/.test(text)) return
  const message = 'text contains control characters or unusual line breaks, which kustomize rejects or changes'
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Remove these characters.' })
}

function written(node: Node): Node {
  if (node.type === 'scalar') return writtenScalar(node)
  if (node.type === 'list') {
    let items: Node[] | undefined
    for (let index = 0; index < node.items.length; index++) {
      const item = written(node.items[index]!)
      if (item === node.items[index]) continue
      items ??= [...node.items]
      items[index] = item
    }
    return items ? { ...node, items } : node
  }
  let fields: Map<string, Field> | undefined
  let merged: Node | undefined
  for (const [key, field] of node.fields) {
    const value = written(field.value)
    checkKey(key, field)
    const isSpecial = isSpecialText(key) && !field.quoted
    if (value === field.value && !isSpecial) continue
    fields ??= new Map(node.fields)
    if (!isSpecial) fields.set(key, { ...field, value })
    else if (key !== '<<') refuseKey(key, field.key)
    else {
      fields.delete(key)
      merged = value
    }
  }
  if (!fields) return node
  return { ...node, fields: merged ? new Map([...mergedFields(merged), ...fields]) : fields }
}

/** Of several maps the first that has a key wins. */
function mergedFields(merged: Node): [string, Field][] {
  const sources = merged.type === 'list' ? merged.items.toReversed() : [merged]
  return sources.flatMap(source => {
    if (source.type === 'map')
      return [...source.fields].map(([key, field]) => [key, { ...field, merged: true }] as const)
    const message = '<<: the value of a merge key is neither a map nor a list of maps, and kustomize cannot build it'
    throw new BailiwickError('kustomize-invalid', message, { origin: source.origin, fix: 'Rename the key.' })
  }) as [string, Field][]
}

/** What is written at last is JSON that is read as YAML, in which a key may have 1024 characters with its quotes. */
function checkKey(key: string, { key: origin, quoted }: Field): void {
  refuseTab(key, origin)
  const isTooLong = key.length > 500 && [...JSON.stringify(key)].length > 1024
  if (!isTooLong && !(quoted && key === '<<')) return
  const what = quoted ? '"<<" in quotes, which kustomize drops when it reads a file' : 'of more than 1024 characters'
  throw new BailiwickError('kustomize-unsupported', `a key ${what}, is not supported`, {
    origin,
    fix: 'Rename the key.',
  })
}

function refuseKey(key: string, origin: Origin): never {
  const message = `the key ${JSON.stringify(key)} is not a string in YAML, and kustomize cannot build it`
  throw new BailiwickError('kustomize-invalid', message, { origin, fix: 'Rename the key.' })
}

function read(node: Node): Node {
  if (node.type === 'scalar') return readScalar(node)
  // comments and brackets are forgotten
  const { noted: _, ...kept } = node
  if (kept.type === 'list') {
    const { flow: __, ...list } = kept
    return { ...list, items: list.items.map(read) }
  }
  const { flow: __, steered: ___, ...map } = kept
  const fields = new Map<string, Field>()
  for (const [key, { key: origin, value }] of map.fields) {
    refuseTab(key, origin)
    const quoted = key !== '<<' && isSpecialText(key) && ({ quoted: true } as const)
    fields.set(key, { key: origin, value: read(value), ...quoted })
  }
  return { ...map, fields }
}

function readScalar({ value, origin, opaque }: ScalarNode): ScalarNode {
  const rest = { type: 'scalar', origin, ...(opaque && { opaque }) } as const
  if (typeof value === 'string') {
    refuseTab(value, origin)
    return { ...rest, value, ...(needsQuotes(value) && { quoted: true }) }
  }
  if (typeof value !== 'number' && typeof value !== 'bigint') return { ...rest, value }
  const text = goFloat(Number(value))
  return { ...rest, value: Number(value), ...(text !== String(Number(value)) && { text }) }
}

/** Go's shortest text of a float64, which has an exponent from a million on. */
function goFloat(number: number): string {
  const magnitude = Math.abs(number)
  if (magnitude === 0 || (magnitude < 1e6 && magnitude >= 1e-4)) return String(number)
  return number.toExponential().replace(/e([-+])(\d)$/, 'e$10$2')
}

const OLD_BOOLEAN = /^(?:[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/
/** What a plain text may not start with. */
const START = /^(?:---|\.\.\.|[\s#,[\]{}&*!|>'"%@`]|[-?:](?:\s|$))/
/** What it may not hold: a key, a comment, space at its end, what must be escaped. */
const WITHIN = /:(?:\s|$)|\s#|\s$|[^ -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/
/** Most texts: nothing in them means anything to YAML. */
const WORD = /^[A-Za-z][\w./-]*$/

/** Whether go-yaml puts this text in quotes or in a block when it writes an object anew (encode.go, emitterc.go). */
function needsQuotes(text: string): boolean {
  if (WORD.test(text)) return OLD_BOOLEAN.test(text) || typeof resolvePlain(text) !== 'string'
  if (text === '<<' || OLD_BOOLEAN.test(text) || BASE_60.test(text)) return true
  return resolvePlain(text) !== text || START.test(text) || WITHIN.test(text)
}

function writtenScalar(node: ScalarNode): ScalarNode {
  const { value, origin } = node
  if (node.style === 'folded') return writeFolded(node)
  if (typeof value !== 'string') return node
  if (node.quoted) return node
  refuseTab(value, origin)
  return node.untyped && !node.style && resolvePlain(value) === null ? { type: 'scalar', value: null, origin } : node
}

/** Texts of several lines become blocks; in one that starts with a tab the parser looks for the indent. */
function refuseTab(text: string, origin: Origin): void {
  if (
    !text.startsWith('\t') ||
    !text.includes('\n') ||
    / \n| $|[^\t\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(text)
  )
    return
  const message = 'multi-line text starts with a tab, and kustomize cannot read it back'
  throw new BailiwickError('kustomize-invalid', message, { origin, fix: 'Start the text with another character.' })
}

function writeFolded(node: ScalarNode): ScalarNode {
  const text = String(node.value)
  // such texts are written in double quotes, which keeps them
  if (text === '' || / \n| $|[\u{10000}-\u{10ffff}]/u.test(text)) return node
  if (/^[ \t\n]|\n\n$/.test(text)) {
    const message = 'kustomize changes folded text (>) that starts or ends with blank lines or spaces'
    throw new BailiwickError('yaml-ambiguous', message, {
      origin: node.origin,
      fix: 'Write the text with | or in quotes.',
    })
  }
  const value = spreadIndented(text)
  return value === text ? node : { ...node, value }
}

/** One more line break behind each line that begins with no blank where the next that is not empty does. */
function spreadIndented(text: string): string {
  const parts = new TextParts('')
  let taken = 0
  let line = 0
  for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', line)) {
    const wasIndented = isBlank(text.charCodeAt(line))
    line = feed
    while (text.charAt(line) === '\n') line++
    if (wasIndented || !isBlank(text.charCodeAt(line))) continue
    parts.push(`${text.slice(taken, feed)}\n`)
    taken = feed
  }
  parts.push(text.slice(taken))
  return parts.finish()
}

/**
 * A text that kustomize puts into an object: in a block where it has lines, in quotes where YAML 1.1 would not read it
 * as text (kyaml's FieldSetter). Throws `kustomize-unsupported` for what `checkCharacters` refuses.
 */
export function valueNode(value: string, origin: Origin): ScalarNode {
  // without tabs beside them, which end a build, these line breaks stay as they are
  checkCharacters(value.includes('\t') ? value : value.replaceAll(/[\u2028\u2029]/g, ''), origin)
  if (!value.includes('\n')) {
    return { type: 'scalar', value, origin, ...(isTextForOldYaml(value) ? {} : { quoted: true }) }
  }
  return { type: 'scalar', value, origin, style: 'literal' }
}

/** Plain words and numbers that YAML 1.1 takes for something else than text. */
const NO_TEXT =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[-+.]?\d[\d_.,:eE+-]*|[-+]?0[xXoObB][\da-fA-F_]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
const DATE = /^\d{4}-\d/
/** What starts a map, a list or a comment. */
const STRUCTURE = /^(?:[[{#]|- )|: |:$| #/

/**
 * Whether YAML 1.1 reads this text, written plain, as text. kyaml puts quotes around what is not where it sets a field,
 * and what stands in quotes stays a text under a later patch (FieldSetter in kyaml/yaml/fns.go).
 */
export function isTextForOldYaml(text: string): boolean {
  if (text.includes('\n') || DATE.test(text)) return true
  return !NO_TEXT.test(text) && !STRUCTURE.test(text)
}
