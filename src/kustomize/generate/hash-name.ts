import { hash } from 'node:crypto'
import { withValueAt, writtenText } from '../../kube/edit-node.ts'
import { at, type Node } from '../../kube/node.ts'
import { currentId, type Resource } from '../resource/resource.ts'

const ALPHABET: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' }

/** Gives a generated ConfigMap its name with a hash of its content (hasher.go; the name in the hash is always empty). */
export function appendHash(resource: Resource): void {
  const name = at(resource.root, ['metadata', 'name'])!
  resource.previous.push(currentId(resource))
  const suffixed: Node = { ...name, type: 'scalar', value: `${writtenText(name)}-${contentHash(resource)}` } as Node
  resource.root = withValueAt(resource.root, ['metadata', 'name'], suffixed)
}

function contentHash(resource: Resource): string {
  const data = at(resource.root, ['data'])
  const binary = at(resource.root, ['binaryData'])
  const parts = [
    ...(binary?.type === 'map' ? [`"binaryData":${goJson(binary)}`] : []),
    `"data":${data === undefined ? '""' : goJson(data)}`,
    '"kind":"ConfigMap"',
    '"name":""',
  ]
  const digest = hash('sha256', `{${parts.join(',')}}`)
  return [...digest.slice(0, 10)].map(char => ALPHABET[char] ?? char).join('')
}

/** JSON as Go writes it: sorted by bytes, and with <, >, & and two line separators escaped. */
function goJson(node: Node): string {
  if (node.type === 'list') return `[${node.items.map(goJson).join(',')}]`
  if (node.type === 'map') {
    const keys = [...node.fields.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    return `{${keys.map(key => `${goString(key)}:${goJson(node.fields.get(key)!.value)}`).join(',')}}`
  }
  return typeof node.value === 'string' ? goString(node.value) : String(node.value)
}

function goString(text: string): string {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replace(/[<>&\u2028\u2029\u007f]/g, char => (char === '\u007f' ? char : escaped(char)))
}
