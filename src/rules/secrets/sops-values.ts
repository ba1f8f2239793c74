import { unlessRefused } from '../../base/errors.ts'
import { listed, message } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { flatValues, readFlatFile } from '../../flux/sops/encrypted-values.ts'
import { at, type Node, type Path } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { scalarsOf } from '../model/object-values.ts'
import type { Subject, Violation } from '../model/rule.ts'

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
  return unlessRefused(false, () => {
    const documents = parseDocuments({ repository: '', path: 'secret' }, bytes)
    return documents.length === 1 && documents.every(root => hasSopsBlock(root) && isWholly(root))
  })
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

/** Flux moves stringData into data, so ciphertext may stand in base64; a file that is encrypted as a whole is one value. */
export function ciphertext(value: string): string | undefined {
  const text = value.startsWith('ENC[') ? value : Buffer.from(value, 'base64').toString('latin1')
  return text.includes('ENC[AES256_GCM,') ? text : undefined
}

const PARTS = /^ENC\[AES256_GCM,data:([^,]*),iv:([^,]*),tag:([^,]*),/

/** Values that were changed in part: encryption changes data, nonce and tag together. */
export function* damagedValues(subject: Subject, before: FleetIndex | undefined): Iterable<Violation> {
  const { object, id, kind, node } = subject
  const versions = before?.versionsOf(node.cluster, kind, id.namespace, id.name) ?? []
  if (versions.length === 0) return
  for (const { path } of scalarsOf(object.root)) {
    const now = partsAt(object.root, path)
    const isDamaged = versions.some(({ object: was }) => {
      const then = now && partsAt(was.root, path)
      const same = then?.filter((part, index) => part === now?.[index]).length ?? 0
      return same > 0 && same < 3
    })
    if (!isDamaged) continue
    const place = listed(
      path.map(step => quoted('field', String(step))),
      ' ',
    )
    yield subject.violation(path, 'damaged', {
      message: message`${subject.who}: the ciphertext at ${place} was changed without its key. Allowed: what SOPS wrote. Flux cannot decrypt it, and applies nothing of the Kustomization.`,
      fix: message`Restore the value from git, or change it with \`sops edit\`.`,
    })
  }
}

function partsAt(root: Subject['object']['root'], path: Path): readonly string[] | undefined {
  const value = at(root, path)
  const text = value?.type === 'scalar' && typeof value.value === 'string' ? ciphertext(value.value) : undefined
  return text === undefined ? undefined : PARTS.exec(text)?.slice(1)
}

/** What is written for an X25519 or hybrid recipient of age opens to the data key: 16 bytes nonce, 32 of the key, 16 of the tag. */
const AGE_BODY = 64
const AGE_ARMOR = /^-----BEGIN AGE ENCRYPTED FILE-----\r?\n([A-Za-z0-9+/=\s]+)-----END AGE ENCRYPTED FILE-----$/
const STANZA = '(?:-> [^\\n]{1,4096}\\n(?:[A-Za-z0-9+/]{64}\\n){0,512}[A-Za-z0-9+/]{0,63}\\n)'
const AGE_FILE = new RegExp(`^age-encryption\\.org/v1\\n(${STANZA}{1,64})--- [A-Za-z0-9+/]{43}\\n`)
const X25519 = /^-> X25519 [A-Za-z0-9+/]{43}\n[A-Za-z0-9+/]{43}\n/m
const ENCRYPTED_DATA = [9, 18, 20]
const SESSION_KEY = 1

/** Whether text has a form that age opens with the key of a recipient. It may still be for another one. */
export function isAgeForm(text: string, recipient: string): boolean {
  const [, body = ''] = AGE_ARMOR.exec(text.trim()) ?? []
  const bytes = Buffer.from(body, 'base64')
  const header = AGE_FILE.exec(bytes.toString('latin1'))
  if (!header || bytes.length - header[0].length !== AGE_BODY) return false
  return !/^age:age1[02-9ac-hj-np-z]{58}$/.test(recipient) || X25519.test(header[1]!)
}

/** Whether text has a form that PGP opens: keys of sessions, then encrypted data. */
export function isPgpForm(text: string): boolean {
  // as lenient as the programs: what is before an empty line are headers, behind a checksum comes nothing
  const lines = text.replaceAll('\r', '').split('\n')
  const body = lines.slice(lines.findIndex(line => line.includes('-----BEGIN ')) + 1)
  const from = body.findIndex(line => line.trim() === '') + 1
  const bytes = Buffer.from(
    body
      .slice(from)
      .join('')
      .replace(/[=-].*$/, ''),
    'base64',
  )
  const tags: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const packet = packetAt(bytes, at)
    if (!packet || packet.end > bytes.length) return false
    tags.push(packet.tag)
    if (ENCRYPTED_DATA.includes(packet.tag)) return tags.includes(SESSION_KEY)
    at = packet.end
  }
  return false
}

/** RFC 9580, section 4.2. Of data in parts the first one says that it is there. */
function packetAt(bytes: Buffer, at: number): { readonly tag: number; readonly end: number } | undefined {
  const first = bytes[at]!
  if ((first & 0x80) === 0) return undefined
  const [one = 0, two = 0] = bytes.subarray(at + 1)
  if ((first & 0x40) === 0) {
    const size = [1, 2, 4, 0][first & 3]!
    const length =
      size === 0 ? bytes.length - at - 1 : at + 1 + size > bytes.length ? Infinity : bytes.readUIntBE(at + 1, size)
    return { tag: (first >> 2) & 15, end: at + 1 + size + length }
  }
  const tag = first & 63
  if (one < 192) return { tag, end: at + 2 + one }
  if (one < 224) return { tag, end: at + 3 + (one - 192) * 256 + two + 192 }
  if (one < 255) return { tag, end: at + 2 + 2 ** (one & 31) }
  return { tag, end: at + 6 > bytes.length ? Infinity : at + 6 + bytes.readUInt32BE(at + 2) }
}
