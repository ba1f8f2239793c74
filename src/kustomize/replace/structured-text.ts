import { BailiwickError } from '../../errors.ts'
import type { Node, ScalarNode } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import { refuseUnknown } from '../generate/unknown-values.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import { type PathEdit, PathEditor } from './edit-path.ts'
import { type FoundNode, lookUpStep } from './look-up.ts'
import { readEmbedded } from './read-embedded.ts'
import { retype } from './retype.ts'
import type { SourceValue } from './source-value.ts'

type How = Omit<PathEdit, 'edit'> & { readonly budget: BuildBudget }

interface Structured {
  readonly root: Node
  readonly text: ScalarNode
  readonly place: readonly (string | number)[]
}

/**
 * The object with a value put inside of a text that holds JSON, where the field path leads into one; undefined where it
 * does not, or ends at nothing there. JSON is written back sorted (api/filters/replacement, setValueInStructuredData);
 * options such as a delimiter do not count there. Throws `kustomize-unsupported` for text that is YAML and not JSON.
 */
export function editStructuredText(
  root: Node,
  path: readonly string[],
  value: SourceValue,
  how: How,
): Structured | undefined {
  const found = findText(root, path)
  if (!found) return undefined
  refuseUnknown(found.text, how.origin)
  const embedded = readEmbedded(found.text)
  if (!embedded) return undefined
  how.spend(embedded.text.length)
  const isJson = /^\s*[[{]/.test(embedded.text)
  const editor = new PathEditor({ ...how, edit: node => (isJson ? written(node, value, how) : node) })
  if (!fits(embedded.node, found.rest)) return undefined
  const edited = editor.walk(embedded.node, found.rest)
  if (editor.count === 0) return undefined
  if (!isJson) refuseYaml(how.origin)
  const text = asJson(edited, embedded.text)
  const { origin } = found.text
  const step = value.origin.via!.at(-1)!
  const node = retype(found.text, text, { ...origin, via: [...(origin.via ?? []), step] })
  return { root: replaceAt(root, found.place, node), text: node, place: found.place }
}

function findText(root: Node, path: readonly string[]) {
  let found: FoundNode = { node: root, place: [] }
  for (const [index, part] of path.slice(0, -1).entries()) {
    const next = lookUpStep(found, part)
    if (typeof next === 'string') return undefined
    found = next
    if (found.node.type === 'scalar') return { text: found.node, place: found.place, rest: path.slice(index + 1) }
  }
  return undefined
}

/** In what is not a map or list there is nothing to find; the path is then taken for one of the object. */
function fits(node: Node, rest: readonly string[]): boolean {
  return node.type !== 'scalar' || (node.value === null && rest.length > 0)
}

function written(node: Node, value: SourceValue, { budget, origin }: How): Node {
  // the place says how the part is written, so it stays; kustomize writes a wrong type out, or forgets the value
  if (node.type === 'scalar') return retype(node, value.text, node.origin, 'kustomize-unsupported', origin)
  return value.copy(budget)
}

function asJson(node: Node, before: string): string {
  return goJson(node, before.includes('\n') && before.includes('  ') ? '  ' : '')
}

function refuseYaml(origin: Origin): never {
  const message = 'replacements: a field path into YAML text is not supported. Supported: JSON text'
  const fix = 'Write the text as JSON, or replace the whole text with `patches`.'
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix })
}

function replaceAt(root: Node, [key, ...rest]: readonly (string | number)[], value: Node): Node {
  if (key === undefined) return value
  if (root.type === 'list') {
    return { ...root, items: root.items.map((item, index) => (index === key ? replaceAt(item, rest, value) : item)) }
  }
  if (root.type !== 'map') return root
  const fields = new Map(root.fields)
  const field = fields.get(String(key))!
  fields.set(String(key), { ...field, value: replaceAt(field.value, rest, value) })
  return { ...root, fields }
}

/** JSON as Go's encoding/json writes what go-yaml has read: keys sorted by bytes; on lines where an indent is given. */
function goJson(node: Node, indent: string, outer = ''): string {
  if (node.type === 'scalar') return typeof node.value === 'string' ? goString(node.value) : String(node.value)
  const inner = outer + indent
  const isMap = node.type === 'map'
  const parts = isMap
    ? sortedKeys(node.fields).map(key => {
        const value = goJson(node.fields.get(key)!.value, indent, inner)
        return `${goString(key)}:${indent === '' ? '' : ' '}${value}`
      })
    : node.items.map(item => goJson(item, indent, inner))
  const [open, close] = isMap ? '{}' : '[]'
  if (parts.length === 0 || indent === '') return `${open}${parts.join(',')}${close}`
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${outer}${close}`
}

function sortedKeys(fields: ReadonlyMap<string, unknown>): string[] {
  return [...fields.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

function goString(text: string): string {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, escaped)
}
