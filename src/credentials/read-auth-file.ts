import { BailiwickError } from '../errors.ts'
import { at, type MapNode, type Node, stringAt } from '../kube/node.ts'
import { parseDocuments } from '../kube/yaml/parse-documents.ts'
import type { SecretFrame } from '../onboard/credential/auth-secret.ts'
import type { Origin } from '../origin.ts'

const FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'type', 'data', 'stringData', 'sops'])
const METADATA: ReadonlySet<string> = new Set(['name', 'namespace', 'labels', 'annotations', 'creationTimestamp'])
const VALUES: ReadonlySet<string> = new Set(['identity', 'identity.pub', 'known_hosts'])

/**
 * Reads a file that holds one sealed Secret with an SSH key and nothing else, so that it can be replaced as a whole. Throws
 * `command-input` for any other.
 */
export function readAuthFile(path: string, bytes: Uint8Array): SecretFrame {
  const documents = parseDocuments({ repository: '', path }, bytes)
  const [root] = documents
  if (documents.length !== 1 || root?.type !== 'map') {
    throw refused(path, `holds ${documents.length} objects`, 'Move the Secret to a file of its own.')
  }
  if (stringAt(root, ['apiVersion']) !== 'v1' || stringAt(root, ['kind']) !== 'Secret') {
    throw refused(path, 'is not a Secret', 'Put the Secret itself there, not something that makes it.', root.origin)
  }
  for (const [name, { key }] of root.fields) {
    if (!FIELDS.has(name)) throw refused(path, `has the field ${JSON.stringify(name)}`, FRAME, key)
  }
  assertKey(path, root)
  const type = stringAt(root, ['type'])
  return { metadata: metadataOf(path, root), ...(type === undefined ? {} : { type }) }
}

const FRAME = 'Keep only apiVersion, kind, metadata, type, the values and the sops block.'
const BY_HAND = 'Rotate it by hand.'

function assertKey(path: string, root: MapNode): void {
  if (at(root, ['sops'])?.type !== 'map') throw refused(path, 'is not encrypted by SOPS', 'Encrypt it first.')
  const names = ['data', 'stringData'].flatMap(field => {
    const values = at(root, [field])
    return values?.type === 'map' ? [...values.fields.keys()] : []
  })
  const other = names.find(name => !VALUES.has(name))
  if (other !== undefined) {
    throw refused(path, `has the value ${JSON.stringify(other)}, which is no part of a deploy key`, BY_HAND)
  }
  if (!names.includes('identity')) throw refused(path, 'has no value `identity`, so it is no SSH key', BY_HAND)
}

function metadataOf(path: string, root: MapNode): SecretFrame['metadata'] {
  const node = at(root, ['metadata'])
  if (node?.type === 'map') {
    for (const [name, { key }] of node.fields) {
      if (!METADATA.has(name)) throw refused(path, `has the field metadata.${name}`, BY_HAND, key)
    }
  }
  const name = clearText(path, at(node, ['name']))
  if (name === undefined) throw refused(path, 'has no name', 'Set metadata.name.', root.origin)
  const namespace = clearText(path, at(node, ['namespace']))
  const labels = clearMap(path, at(node, ['labels']))
  const annotations = clearMap(path, at(node, ['annotations']))
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  }
}

function clearText(path: string, node: Node | undefined): string | undefined {
  if (!node || (node.type === 'scalar' && node.value === null)) return undefined
  if (node.type === 'scalar' && typeof node.value === 'string' && !node.value.startsWith('ENC[')) return node.value
  throw refused(path, 'has metadata that is not text in clear', BY_HAND, node.origin)
}

function clearMap(path: string, node: Node | undefined): Record<string, string> | undefined {
  if (node?.type !== 'map') return undefined
  return Object.fromEntries([...node.fields].map(([name, { value }]) => [name, clearText(path, value) ?? '']))
}

function refused(path: string, what: string, fix: string, origin?: Origin): BailiwickError {
  return new BailiwickError(
    'command-input',
    `${path} ${what}. Only a file with one sealed Secret that holds an SSH key is replaced`,
    {
      fix,
      origin: origin ?? { repository: '', file: path, line: 1, column: 1 },
    },
  )
}
