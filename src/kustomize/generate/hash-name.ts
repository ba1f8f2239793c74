import { hash } from 'node:crypto'
import { BailiwickError } from '../../errors.ts'
import { withValueAt, writtenText } from '../../kube/edit-node.ts'
import { at, type Node } from '../../kube/node.ts'
import { type Resource, resourceOrigin } from '../resource/resource.ts'
import { toPlain } from '../resource/round-trip.ts'
import { isUnknown } from './unknown-values.ts'

const ALPHABET: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' }

/**
 * Gives a generated ConfigMap or Secret its name with a hash of its content (hasher.go; the name in the hash is always
 * empty). With unknown values the hash is unknown, too: in its place stands one of what is encrypted, marked by a word
 * that no hash of kustomize can be. Throws `kustomize-unsupported` for an object that a patch has made one of another kind.
 */
export function appendHash(resource: Resource): void {
  const name = at(resource.root, ['metadata', 'name'])!
  resource.remember()
  const suffixed: Node = { ...name, type: 'scalar', value: `${writtenText(name)}-${suffixOf(resource)}` } as Node
  resource.root = withValueAt(resource.root, ['metadata', 'name'], suffixed)
}

const suffixOf = (resource: Resource): string =>
  isUnknown(at(resource.root, ['data'])) ? `unknown-${contentHash(resource)}` : contentHash(resource)

function contentHash(resource: Resource): string {
  const { kind } = resource.current
  const parts = new Map([
    ['kind', goString(kind)],
    ['name', '""'],
    ['data', hashed(at(resource.root, ['data']))],
  ])
  const extra = at(resource.root, [kind === 'Secret' ? 'stringData' : 'binaryData'])
  if (extra && extra.type !== 'scalar') parts.set(kind === 'Secret' ? 'stringData' : 'binaryData', hashed(extra))
  if (kind === 'Secret') parts.set('type', hashed(at(resource.root, ['type'])))
  else if (kind !== 'ConfigMap') {
    const message = `${kind}: a patch changed the kind of a generated object, so its name suffix depends on internal annotations of kustomize. This is not supported`
    throw new BailiwickError('kustomize-unsupported', message, { origin: resourceOrigin(resource) })
  }
  const text = [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `"${key}":${value}`)
  const digest = hash('sha256', `{${text.join(',')}}`)
  return [...digest.slice(0, 10)].map(char => ALPHABET[char] ?? char).join('')
}

/** kustomize takes the text of a scalar as it is written, and forgets a list. */
function hashed(node: Node | undefined): string {
  if (node === undefined) return '""'
  if (node.type === 'list') return 'null'
  return node.type === 'scalar' ? goString(writtenText(node)) : goJson(toPlain(node))
}

/** JSON as Go writes it: sorted by bytes, and with <, >, & and two line separators escaped. */
function goJson(node: Node): string {
  if (node.type === 'list') return `[${node.items.map(goJson).join(',')}]`
  if (node.type === 'map') {
    const keys = [...node.fields.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    return `{${keys.map(key => `${goString(key)}:${goJson(node.fields.get(key)!.value)}`).join(',')}}`
  }
  if (typeof node.value === 'string') return goString(node.value)
  return String(typeof node.value === 'bigint' ? Number(node.value) : node.value)
}

function goString(text: string): string {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replace(/[<>&\u2028\u2029\u007f]/g, char => (char === '\u007f' ? char : escaped(char)))
}
