import { BailiwickError } from '../errors.ts'
import { at, type Node, stringAt } from '../kube/node.ts'
import { type ServiceKey, serviceKeys } from '../kube/sops-services.ts'

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
const recipientsOf = new WeakMap<readonly string[], ReadonlyMap<string, string>>()

async function readRecipients(identities: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { identityToRecipient } = await import('age-encryption')
  const read = await Promise.all(identities.map(async one => [await identityToRecipient(one), one] as const))
  return new Map(read)
}

/** The data key as each recipient of these identities has it; `locked`: what is written for it does not open. */
export async function keysForAge(block: Node, identities: readonly string[]): Promise<(Uint8Array | 'locked')[]> {
  if (identities.length === 0 || at(block, ['key_groups', 1])) return []
  const own = recipientsOf.get(identities) ?? (await readRecipients(identities))
  recipientsOf.set(identities, own)
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
