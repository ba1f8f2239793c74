import { createDecipheriv, createHash, type Hash } from 'node:crypto'
import { BailiwickError } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import { at, isTrue, type MapNode, type Node, type ScalarNode, type ScalarValue, stringAt } from '../../kube/node.ts'
import { isSealedValue, type ServiceKey, sealedId, sealedPlace, serviceKeys } from '../../kube/sops.ts'
import { sopsValues } from './encrypted-values.ts'

/**
 * Every encrypted value of an object in clear, by its place and what is encrypted: as kustomize-controller decrypts it, which
 * does not look at the MAC. SOPS binds each value to its own place, so that none can be moved to another. Throws
 * `cluster-invalid`, without any value, where no identity opens it, where a value is not what was encrypted there, and for
 * what the controller refuses, too.
 */
export async function decryptObject(root: MapNode, identities: Identities): Promise<ReadonlyMap<string, ScalarValue>> {
  const block = root.fields.get('sops')?.value
  const key = block && (await dataKey(block, identities))
  if (!block || !key)
    throw cannot('none of the keys opens it', 'Encrypt it for a key of the Secret that spec.decryption names.')
  try {
    const values = new Map<string, ScalarValue>()
    for (const { node, place, isSealed, isSelected } of sopsValues(root)) {
      const where = place.join('.').slice(0, 200)
      const text = String(node.value)
      if (isSealed && isSelected) values.set(sealedId(place, text), plain(where, text, key, place))
      else if (isSealed) throw cannot(`${where} is encrypted, and the file says that it is not`, AGAIN)
      else if (isSelected) throw cannot(`${where} is not encrypted, and the file says that it is`, AGAIN)
    }
    return values
  } finally {
    key.fill(0)
  }
}

const AGAIN = 'Encrypt the file again, with an encrypted_regex that matches the fields to be encrypted only.'

function plain(where: string, value: string, key: Uint8Array, path: readonly string[]): ScalarValue {
  const bytes = openValue(value, key, sealedPlace(path))
  if (!bytes)
    throw cannot(`${where} was not encrypted for this field, or was changed since then`, 'Encrypt the file again.')
  const type = sealedType(value)
  if (type === 'bytes') return bytes.toString('base64')
  const text = bytes.toString('utf8')
  const read = Buffer.from(text).equals(bytes) ? READERS[type]?.(text) : undefined
  bytes.fill(0)
  if (read !== undefined) return read
  const fix = 'Write it as text in quotes, and encrypt it again.'
  throw cannot(`${where} was encrypted as ${type}, in a form that is not supported`, fix)
}

const INT64 = 2n ** 63n

/** Values as Go reads them (getsops/sops, aes.Decrypt), in the forms that it writes. */
const READERS: Readonly<Record<string, (text: string) => ScalarValue | undefined>> = {
  str: text => text,
  int: integer,
  float: text => (/^-?\d{1,300}(?:\.\d{1,300})?$/.test(text) ? Number(text) : undefined),
  bool: text => (text === 'True' ? true : text === 'False' ? false : undefined),
}

function integer(text: string): ScalarValue | undefined {
  if (!/^-?\d{1,19}$/.test(text)) return undefined
  const value = BigInt(text)
  if (value < -INT64 || value >= INT64) return undefined
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

function cannot(what: string, fix: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `cannot be decrypted: ${what}`, { fix })
}

/** Keys by which documents may be opened; secret. */
export interface Identities {
  /** `AGE-SECRET-KEY-1...`, and those of hybrid recipients, `AGE-SECRET-KEY-PQ-1...`. */
  readonly age: readonly string[]
  /** Armored private keys without a passphrase. */
  readonly pgp?: readonly string[]
  /**
   * Asks a service for a data key; undefined where it may not be asked. Throws a BailiwickError where the service does not
   * open it.
   */
  readonly open?: (key: ServiceKey) => Promise<Uint8Array | undefined>
}

/** Recipients of a document, of each kind, that are tried: each costs a key exchange. */
const MAX_RECIPIENTS = 32
const MAX_BYTES = 64 * 1024

/**
 * The key by which SOPS encrypted the values of a document, opened with one of these identities. Undefined where none of them
 * fits, or the key is split among groups. Throws only what `open` throws, where no other key opens it.
 */
export async function dataKey(block: Node, { age, pgp = [], open }: Identities): Promise<Uint8Array | undefined> {
  const groups = at(block, ['key_groups'])
  if (groups?.type === 'list' && groups.items.length > 1) return undefined
  const recipients = (kind: string) => {
    const list = at(block, [kind]) ?? at(groups, [0, kind])
    const items = list?.type === 'list' ? list.items.slice(0, MAX_RECIPIENTS) : []
    return items.map(item => stringAt(item, ['enc']) ?? '').filter(text => text !== '' && text.length <= MAX_BYTES)
  }
  for (const text of age.length > 0 ? recipients('age') : []) {
    const key = await openedByAge(text, age)
    if (key) return key
  }
  for (const text of pgp.length > 0 ? recipients('pgp') : []) {
    const key = await openedByPgp(text, pgp)
    if (key) return key
  }
  return open && (await openedByService(block, open))
}

/** A hybrid one takes as long to compute as all of a small file to read. */
const recipientsOf = oncePer(async (identities: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const { identityToRecipient } = await import('age-encryption')
  const read = await Promise.all(identities.map(async one => [await identityToRecipient(one), one] as const))
  return new Map(read)
})

/** The data key as each recipient of these identities has it; `locked`: what is written for it does not open. */
async function keysForAge(block: Node, identities: readonly string[]): Promise<(Uint8Array | 'locked')[]> {
  if (identities.length === 0 || at(block, ['key_groups', 1])) return []
  const own = await recipientsOf(identities)
  const list = at(block, ['age']) ?? at(block, ['key_groups', 0, 'age'])
  const keys: (Uint8Array | 'locked')[] = []
  for (const item of list?.type === 'list' ? list.items.slice(0, MAX_RECIPIENTS) : []) {
    const identity = own.get(stringAt(item, ['recipient']) ?? '')
    if (identity) keys.push((await openedByAge(stringAt(item, ['enc']) ?? '', [identity])) ?? 'locked')
  }
  return keys
}

async function openedByService(block: Node, open: NonNullable<Identities['open']>): Promise<Uint8Array | undefined> {
  let refused: BailiwickError | undefined
  for (const one of serviceKeys(block).slice(0, MAX_RECIPIENTS)) {
    if (one.enc.length > MAX_BYTES) continue
    try {
      const key = await open(one)
      const found = key && keyOf(key)
      if (found) return found
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      // another key may open it
      refused ??= error
    }
  }
  if (refused) throw refused
  return undefined
}

async function openedByAge(text: string, identities: readonly string[]): Promise<Uint8Array | undefined> {
  if (text.length > MAX_BYTES) return undefined
  // most fleets are evaluated without a key, and the library takes as long to load as all that renders
  const { armor, Decrypter } = await import('age-encryption')
  try {
    const decrypter = new Decrypter()
    for (const identity of identities) decrypter.addIdentity(identity)
    return keyOf(await decrypter.decrypt(armor.decode(text)))
  } catch {
    // the library throws plain errors, for another recipient as for damaged text; both mean that this key does not open it
    return undefined
  }
}

async function openedByPgp(text: string, identities: readonly string[]): Promise<Uint8Array | undefined> {
  const { decrypt, readMessage, readPrivateKey } = await import('openpgp')
  try {
    const message = await readMessage({ armoredMessage: text })
    const decryptionKeys = await Promise.all(identities.map(armoredKey => readPrivateKey({ armoredKey })))
    const config = { maxDecompressedMessageSize: MAX_BYTES }
    const { data } = await decrypt({ message, decryptionKeys, format: 'binary', config })
    return keyOf(data)
  } catch {
    // as above
    return undefined
  }
}

const keyOf = (key: Uint8Array): Uint8Array | undefined => (key.length === 32 ? key : undefined)

const VALUE =
  /^ENC\[AES256_GCM,data:([A-Za-z0-9+/]*={0,2}),iv:([A-Za-z0-9+/]+={0,2}),tag:([A-Za-z0-9+/]+={0,2}),type:(str|int|float|bool|bytes|time|comment)\]$/

/** The type of a sealed value, as SOPS writes it: `str`, `int`, ... */
export const sealedType = (text: string): string => VALUE.exec(text)?.[4] ?? ''

/** The plain bytes of a value at `place` (its path, or the time of the document for the MAC); undefined where the key or the place is not that of the value. */
export function openValue(text: string, key: Uint8Array, place: string): Buffer | undefined {
  const [, data = '', iv = '', tag = ''] = VALUE.exec(text) ?? []
  const [nonce, seal] = [Buffer.from(iv, 'base64'), Buffer.from(tag, 'base64')]
  if (nonce.length === 0 || seal.length !== 16) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAAD(Buffer.from(place))
  decipher.setAuthTag(seal)
  const plain = decipher.update(Buffer.from(data, 'base64'))
  try {
    return Buffer.concat([plain, decipher.final()])
  } catch {
    // the only way in which Node says that the tag does not fit
    return undefined
  }
}

/**
 * `sound`: nothing of the file was changed without its key. `changed`: what is not encrypted was, or the order of values; the
 * controller does not notice. `corrupt`: an encrypted value does not open with the key of the file. `locked`: what is written
 * for a recipient does not open with its key. `unknown`: no key is at hand, or it holds what SOPS could not have written.
 */
type Seal = 'sound' | 'unknown' | 'changed' | 'corrupt' | 'locked'

/** What SOPS begins with where only encrypted values count: the SHA-256 of `sops`. */
const ONLY_ENCRYPTED = createHash('sha256').update('sops').digest()

/**
 * Whether the MAC of a file holds, over all its documents, as `sops decrypt` would find (getsops/sops, Tree.Decrypt).
 * kustomize-controller does not look at it.
 */
export async function verifyMac(documents: readonly Node[], identities: Identities): Promise<Seal> {
  const block = documents.map(root => at(root, ['sops'])).find(node => node?.type === 'map')
  if (!block) return 'unknown'
  const own = await keysForAge(block, identities.age)
  if (own.includes('locked')) return 'locked'
  const keys = own.length > 0 ? own : [await dataKey(block, identities)]
  const seals = keys.map(key => (key instanceof Uint8Array ? sealBy(documents, block, key) : 'unknown'))
  // recipients may open to different keys: at most one of them is that of the values
  return SEALS.find(seal => seals.includes(seal))!
}

const SEALS: readonly Seal[] = ['corrupt', 'changed', 'unknown', 'sound']

function sealBy(documents: readonly Node[], block: Node, key: Uint8Array): Seal {
  const written = openValue(stringAt(block, ['mac']) ?? '', key, stringAt(block, ['lastmodified']) ?? '')
  const onlyEncrypted = isTrue(at(block, ['mac_only_encrypted']))
  const hash = createHash('sha512')
  if (onlyEncrypted) hash.update(ONLY_ENCRYPTED)
  for (const root of documents) {
    const seal = walk(root, { key, hash, onlyEncrypted }, [])
    if (seal !== 'sound') return seal
  }
  return hash.digest('hex').toUpperCase() === written?.toString('latin1') ? 'sound' : 'changed'
}

interface Walk {
  readonly key: Uint8Array
  readonly hash: Hash
  readonly onlyEncrypted: boolean
}

/** Every value in the order of the file; a list adds nothing to the path of its items. */
function walk(node: Node, to: Walk, path: readonly string[]): Seal {
  if (node.type === 'scalar') return add(node, to, path)
  const parts =
    node.type === 'list'
      ? node.items.map(item => [item, path] as const)
      : [...node.fields].map(([name, { value }]) => [value, [...path, name]] as const)
  for (const [part, place] of parts) {
    if (path.length === 0 && place[0] === 'sops' && place.length === 1) continue
    const seal = walk(part, to, place)
    if (seal !== 'sound') return seal
  }
  return 'sound'
}

function add(node: ScalarNode, { key, hash, onlyEncrypted }: Walk, path: readonly string[]): Seal {
  if (node.value === null) return 'sound'
  if (typeof node.value === 'string' && isSealedValue(node.value)) {
    const plain = openValue(node.value, key, `${path.join(':')}:`)
    if (!plain) return 'corrupt'
    hash.update(plain)
    return 'sound'
  }
  if (onlyEncrypted) return 'sound'
  const text = textOf(node.value)
  if (text === undefined) return 'unknown'
  hash.update(text)
  return 'sound'
}

/** As Go writes a value without its type; a number that Go and JavaScript write differently is left out. */
function textOf(value: Exclude<ScalarNode['value'], null>): string | undefined {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  const text = String(value)
  return typeof value === 'number' && /[eIN]/.test(text) ? undefined : text
}
