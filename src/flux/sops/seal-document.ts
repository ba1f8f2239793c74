import { createCipheriv, createHash, type Hash } from 'node:crypto'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { stringify } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import { matches, type Recipient, type SealingRule, type Selection } from './creation-rule.ts'

interface PlainMap {
  readonly [name: string]: PlainValue
}
type PlainValue = PlainScalar | null | PlainMap | readonly PlainValue[]

/** What sealing needs besides the document and its rule. */
interface SealingInputs {
  readonly now: Date
  readonly random: RandomBytes
  /** Armored public keys of PGP recipients. */
  readonly publicKeys: readonly string[]
}

/** The release whose files are written. */
const SOPS_VERSION = '3.13.3'
/** What SOPS begins with where only encrypted values count: the SHA-256 of `sops`. */
const ONLY_ENCRYPTED = createHash('sha256').update('sops').digest()
const WITHOUT_SELECTION = '_unencrypted'

/**
 * A Secret as `sops encrypt` writes it by a rule (getsops/sops, Tree.Encrypt): YAML. Throws `sops-config` where the rule would
 * leave a value of the Secret in clear, encrypt what Flux must read (`kind`, `metadata`), or its recipients cannot be used.
 */
export async function sealSecret(secret: PlainMap, rule: SealingRule, inputs: SealingInputs): Promise<string> {
  const { now, publicKeys, random } = inputs
  const key = random(32)
  try {
    const hash = createHash('sha512')
    if (rule.macOnlyEncrypted) hash.update(ONLY_ENCRYPTED)
    const values = sealMap(secret, { key, hash, rule, random }, [])
    const time = now.toISOString().replace(/\.\d+Z$/, 'Z')
    const mac = sealValue(hash.digest('hex').toUpperCase(), key, time, random)
    const keys = { age: [] as SealedKey[], pgp: [] as SealedKey[] }
    for (const recipient of rule.recipients) {
      keys[recipient.kind].push(await sealDataKey(key, recipient, { time, publicKeys }))
    }
    const sops = metadata(rule, { ...keys, time, mac })
    // names that YAML 1.1 takes for booleans are quoted
    return stringify({ ...values, sops }, { indent: 4, lineWidth: 0, version: '1.1', aliasDuplicateObjects: false })
  } finally {
    key.fill(0)
  }
}

/** What SOPS writes beside the values, in its order. */
function metadata(
  { selection, macOnlyEncrypted }: SealingRule,
  { age, pgp, time, mac }: { age: readonly SealedKey[]; pgp: readonly SealedKey[]; time: string; mac: string },
) {
  const fields = {
    ...(age.length > 0 ? { age: age.map(({ enc, recipient }) => ({ enc, recipient })) } : {}),
    ...(selection ? { [selection.field]: selection.value.text } : { unencrypted_suffix: WITHOUT_SELECTION }),
    lastmodified: time,
    mac,
    ...(macOnlyEncrypted ? { mac_only_encrypted: true } : {}),
    ...(pgp.length > 0 ? { pgp: pgp.map(({ created_at, enc, fp }) => ({ created_at, enc, fp })) } : {}),
    version: SOPS_VERSION,
  }
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)))
}

interface Sealing {
  readonly key: Uint8Array
  readonly hash: Hash
  readonly rule: SealingRule
  readonly random: RandomBytes
}

function sealMap(map: PlainMap, to: Sealing, path: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, seal(value, to, [...path, name])]))
}

/** The items of a list add nothing to the path. */
function seal(value: PlainValue, to: Sealing, path: readonly string[]): unknown {
  if (value === null) return null
  if (Array.isArray(value)) return value.map(item => seal(item, to, path))
  if (typeof value === 'object' && !(value instanceof Uint8Array)) return sealMap(value as PlainMap, to, path)
  const scalar = value as PlainScalar
  const { key, hash, rule, random } = to
  const isEncrypted = isSelected(rule.selection, path)
  checkSelection(isEncrypted, rule, path)
  if (isEncrypted || !rule.macOnlyEncrypted) hash.update(bytesOf(scalar))
  return isEncrypted ? sealValue(scalar, key, `${path.join(':')}:`, random) : scalar
}

/** Whether the value at a path is encrypted: one name on the way decides. There are no comments in what is sealed here. */
function isSelected(selection: Selection | undefined, path: readonly string[]): boolean {
  if (!selection) return !path.some(name => name.endsWith(WITHOUT_SELECTION))
  const { field, value } = selection
  switch (field) {
    case 'encrypted_regex':
      return path.some(name => matches(value, name))
    case 'encrypted_suffix':
      return path.some(name => name.endsWith(value.text))
    case 'unencrypted_regex':
      return !path.some(name => matches(value, name))
    case 'unencrypted_suffix':
      return !path.some(name => name.endsWith(value.text))
    case 'encrypted_comment_regex':
      return false
    case 'unencrypted_comment_regex':
      return true
  }
}

const HIDDEN: ReadonlySet<string> = new Set(['data', 'stringData'])

function checkSelection(isEncrypted: boolean, { selection, origin }: SealingRule, path: readonly string[]): void {
  const mustBe = HIDDEN.has(path[0] ?? '')
  if (isEncrypted === mustBe) return
  const name = selection?.field ?? 'the creation rule'
  const what = mustBe ? 'leaves it as plain text' : 'encrypts it, so Flux could not read the object'
  throw new BailiwickError('sops-config', `${path.join('.')}: ${name} ${what}`, {
    fix: 'Write `encrypted_regex: ^(data|stringData)$` in the creation rule.',
    origin: selection?.value.origin ?? origin,
  })
}

/** The data key of a document as one recipient can open it: an item of `sops.age` or `sops.pgp`. */
type SealedKey = Readonly<Record<'enc' | 'recipient' | 'fp' | 'created_at', string | undefined>>

/**
 * Encrypts a data key to a recipient. `publicKeys`: armored PGP keys among which the one with the fingerprint is looked for.
 * Throws `sops-config` where it is not there, or cannot encrypt (expired, revoked, weak).
 */
export async function sealDataKey(
  key: Uint8Array,
  recipient: Recipient,
  { publicKeys, time }: { readonly publicKeys: readonly string[]; readonly time: string },
): Promise<SealedKey> {
  const none = { recipient: undefined, fp: undefined, created_at: undefined }
  if (recipient.kind === 'age') return { ...none, enc: await byAge(key, recipient), recipient: recipient.text }
  return { ...none, enc: await byPgp(key, recipient, publicKeys), fp: recipient.text, created_at: time }
}

async function byAge(key: Uint8Array, { text }: Recipient): Promise<string> {
  const { armor, Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  encrypter.addRecipient(text)
  return armor.encode(await encrypter.encrypt(key))
}

async function byPgp(key: Uint8Array, recipient: Recipient, publicKeys: readonly string[]): Promise<string> {
  const { createMessage, encrypt } = await import('openpgp')
  const encryptionKeys = await publicKeyOf(recipient, publicKeys)
  const message = await createMessage({ binary: key })
  try {
    return (await encrypt({ message, encryptionKeys, format: 'armored' })).trimEnd()
  } catch (cause) {
    // the library throws plain errors for keys that are expired, revoked, or cannot encrypt
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    throw new BailiwickError('sops-config', `pgp: the key ${recipient.text} cannot encrypt${why}`, {
      fix: 'Replace the key in .sops.yaml, or commit it with a new expiry date.',
      origin: recipient.origin,
      cause,
    })
  }
}

async function publicKeyOf({ text, origin }: Recipient, publicKeys: readonly string[]) {
  const { readKeys } = await import('openpgp')
  for (const armoredKeys of publicKeys) {
    try {
      const keys = await readKeys({ armoredKeys })
      const found = keys.find(key => key.getFingerprint().toUpperCase() === text)
      if (found) return found.toPublic()
    } catch {
      // a file of that name that is not a key; the error below names the missing one
    }
  }
  throw new BailiwickError('sops-config', `pgp: the fleet does not contain the public key ${text}`, {
    fix: `Commit it: \`gpg --export --armor ${text} > .sops.pub.asc\`, beside .sops.yaml or in a folder of clusters.`,
    origin,
  })
}

/** Of SOPS; readers take any. */
const NONCE_BYTES = 32

/** `randomBytes` of node:crypto: nothing less. */
type RandomBytes = (size: number) => Uint8Array

/** What SOPS encrypts; bytes are text that is not kept as a string. */
type PlainScalar = string | Uint8Array | number | boolean

/** A value as SOPS writes it, bound to its `place` (its path, or the time of the document for the MAC); an empty text stays so. */
export function sealValue(value: PlainScalar, key: Uint8Array, place: string, random: RandomBytes): string {
  const plain = bytesOf(value)
  if (plain.length === 0) return ''
  const nonce = random(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(place))
  const data = Buffer.concat([cipher.update(plain), cipher.final()])
  const [text, iv, tag] = [data, nonce, cipher.getAuthTag()].map(part => Buffer.from(part).toString('base64'))
  const type = typeof value === 'number' ? 'int' : typeof value === 'boolean' ? 'bool' : 'str'
  return `ENC[AES256_GCM,data:${text},iv:${iv},tag:${tag},type:${type}]`
}

/** A value as it goes into the MAC (getsops/sops, ToBytes). */
function bytesOf(value: PlainScalar): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'boolean') return Buffer.from(value ? 'True' : 'False')
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new TypeError('only whole numbers are sealed')
  return Buffer.from(String(value))
}

/** A new age key: its private half in a Secret from which kustomize-controller reads it, and its public half. */
interface KeySecret {
  /** With the private key in clear. */
  readonly secret: {
    readonly apiVersion: 'v1'
    readonly kind: 'Secret'
    readonly metadata: { readonly name: string; readonly namespace: string }
    readonly stringData: { readonly 'age.agekey': string }
  }
  readonly recipient: string
}

/** Makes an age key. The data key ends with `.agekey`: kustomize-controller looks for that. */
export async function keySecret(place: { readonly namespace: string; readonly secret: string }): Promise<KeySecret> {
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  const metadata = { name: place.secret, namespace: place.namespace }
  const stringData = { 'age.agekey': `# public key: ${recipient}\n${identity}\n` }
  return { secret: { apiVersion: 'v1', kind: 'Secret', metadata, stringData }, recipient }
}
