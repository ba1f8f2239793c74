import { createHash, type Hash } from 'node:crypto'
import { stringify } from 'yaml'
import { BailiwickError } from '../errors.ts'
import { matches } from './rules/creation-rule.ts'
import type { SealingRule, Selection } from './rules/sealing-rule.ts'
import { type SealedKey, sealDataKey } from './seal-data-key.ts'
import { bytesOf, type PlainScalar, type RandomBytes, sealValue } from './seal-value.ts'

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
  const what = mustBe ? 'leaves it in clear' : 'encrypts it, so Flux could not read the object'
  throw new BailiwickError('sops-config', `${path.join('.')}: ${name} ${what}`, {
    fix: 'Write `encrypted_regex: ^(data|stringData)$` in the creation rule.',
    origin: selection?.value.origin ?? origin,
  })
}
