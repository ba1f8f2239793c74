import { BailiwickError } from '../errors.ts'
import type { MapNode, ScalarValue } from '../kube/node.ts'
import { sealedId, sealedPlace } from '../kube/sealed-values.ts'
import { dataKey, type Identities } from './data-key.ts'
import { openValue, sealedType } from './open-value.ts'
import { sopsValues } from './rules/block-selection.ts'

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

/** Values as Go reads them (getsops/sops, aes.Decrypt), in the forms that it writes. */
const READERS: Readonly<Record<string, (text: string) => ScalarValue | undefined>> = {
  str: text => text,
  int: integer,
  float: text => (/^-?\d{1,300}(?:\.\d{1,300})?$/.test(text) ? Number(text) : undefined),
  bool: text => (text === 'True' ? true : text === 'False' ? false : undefined),
}

const INT64 = 2n ** 63n

function integer(text: string): ScalarValue | undefined {
  if (!/^-?\d{1,19}$/.test(text)) return undefined
  const value = BigInt(text)
  if (value < -INT64 || value >= INT64) return undefined
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

function cannot(what: string, fix: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `cannot be decrypted: ${what}`, { fix })
}
