import { BailiwickError } from '../../../errors.ts'
import { at, type Node } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { parseDocuments } from '../../../kube/yaml/parse-documents.ts'
import { flatValues, readFlatFile } from '../../../sops/flat-file.ts'

const ENCRYPTED =
  /^ENC\[AES256_GCM,data:([A-Za-z0-9+/]+={0,2}),iv:([A-Za-z0-9+/]+={0,2}),tag:([A-Za-z0-9+/]+={0,2}),type:(str|int|float|bool|bytes|time|comment)\]$/

/** Whether text is a value that SOPS opens: AES-GCM with a tag of 16 bytes. It makes nonces of 32 bytes and takes others. */
export function isSopsValue(text: string): boolean {
  if (text.length > 4 * 1024 * 1024) return false
  const parts = ENCRYPTED.exec(text)
  if (!parts) return false
  return Buffer.from(parts[2]!, 'base64').length >= 12 && Buffer.from(parts[3]!, 'base64').length === 16
}

/** Whether a document carries the `sops` block with the MAC over its values, as SOPS leaves it. */
function hasSopsBlock(root: Node): boolean {
  const mac = at(root, ['sops', 'mac'])
  return mac?.type === 'scalar' && typeof mac.value === 'string' && isSopsValue(mac.value)
}

/** Whether an object was encrypted by SOPS: the block stands in it, or beside it where Flux drops it. */
export function isSealed(object: KubeObject): boolean {
  if (!object.sops) return hasSopsBlock(object.root)
  const { origin } = object.sops
  return hasSopsBlock({ type: 'map', fields: new Map([['sops', { key: origin, value: object.sops }]]), origin })
}

/** Whether bytes are a whole file that SOPS encrypted (YAML, JSON, binary, dotenv or INI): every value, and a MAC. */
export function isSopsFile(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('utf8')
  if (/^[^\n]*=/.test(text) && /^sops_mac=/m.test(text)) return isSopsFlat('.env', text)
  if (/^\[sops\]$/m.test(text)) return isSopsFlat('.ini', text)
  if (!text.includes('sops')) return false
  try {
    const documents = parseDocuments({ repository: '', path: 'secret' }, bytes)
    return documents.length === 1 && documents.every(root => hasSopsBlock(root) && isWholly(root))
  } catch (error) {
    if (error instanceof BailiwickError) return false
    throw error
  }
}

/** What SOPS itself writes beside the values, in clear; anything else there would be a value that is not encrypted. */
const METADATA = new Set(
  (
    'kms gcp_kms azure_kv hc_vault hckms age pgp key_groups lastmodified mac version shamir_threshold ' +
    'mac_only_encrypted encrypted_regex encrypted_suffix encrypted_comment_regex unencrypted_regex ' +
    'unencrypted_suffix unencrypted_comment_regex'
  ).split(' '),
)

function isWholly(root: Node): boolean {
  if (root.type !== 'map') return false
  return [...root.fields].every(([key, { value }]) => (key === 'sops' ? isMetadata(value) : allLeaves(value)))
}

function isMetadata(block: Node): boolean {
  return block.type === 'map' && [...block.fields.keys()].every(key => METADATA.has(key))
}

function allLeaves(node: Node): boolean {
  if (node.type === 'list') return node.items.every(allLeaves)
  if (node.type === 'map') return [...node.fields.values()].every(field => allLeaves(field.value))
  return node.value === null || node.value === '' || (typeof node.value === 'string' && isSopsValue(node.value))
}

function isSopsFlat(file: string, text: string): boolean {
  const root = readFlatFile({ repository: '', file }, text)
  const areSealed = flatValues(file, text).every(value => value === '' || isSopsValue(value))
  return areSealed && root !== undefined && hasSopsBlock(root) && isWholly(root)
}
