import { BailiwickError } from '../errors.ts'
import type { Json, Node } from '../kube/node.ts'
import { dataKey, type Identities } from './data-key.ts'
import { isSealedValue, openValue, sealedType } from './open-value.ts'

/**
 * A Secret or ConfigMap with the values of its `data` in clear, as kustomize-controller decrypts it: each sealed value is
 * bound to its own field by SOPS, so that none can be moved to another. A value of `data` that holds a sealed one in base64
 * was written as `stringData`. `block`: what SOPS wrote beside the values. Throws `cluster-invalid`, without any value, where
 * no identity opens it or a value is not what was sealed there.
 */
export async function decryptObject(
  object: { readonly [key: string]: Json },
  block: Node,
  identities: Identities,
): Promise<{ [key: string]: Json }> {
  const key = await dataKey(block, identities)
  if (!key) throw cannot('none of the keys opens it', 'Encrypt it for a key of the Secret that spec.decryption names.')
  try {
    const { sops: _sops, ...rest } = object
    const plainObject: { [key: string]: Json } = rest
    for (const field of VALUES) {
      const values = object[field]
      if (values === undefined || values === null || typeof values !== 'object' || Array.isArray(values)) continue
      const open = ([name, value]: readonly [string, Json]) => [name, opened(field, name, value, key)] as const
      plainObject[field] = Object.fromEntries(Object.entries(values).map(open))
    }
    return plainObject
  } finally {
    key.fill(0)
  }
}

const VALUES = ['data', 'stringData', 'binaryData'] as const

function opened(field: (typeof VALUES)[number], name: string, value: Json, key: Uint8Array): Json {
  if (typeof value !== 'string') return value
  const where = `${field}.${name}`
  if (isSealedValue(value)) return plain(where, value, key, `${field}:${name}:`).toString('utf8')
  const inner = field === 'data' ? innerOf(value) : undefined
  if (inner === undefined) return value
  const text = plain(where, inner, key, `stringData:${name}:`)
  const encoded = text.toString('base64')
  text.fill(0)
  return encoded
}

/** A sealed value within base64, as `stringData` is written into `data`. */
function innerOf(value: string): string | undefined {
  // the beginning of ENC[AES256_GCM in base64
  if (!value.startsWith('RU5DW0FFUzI1Nl9HQ0')) return undefined
  const text = Buffer.from(value, 'base64').toString('utf8')
  return isSealedValue(text) ? text : undefined
}

function plain(where: string, value: string, key: Uint8Array, place: string): Buffer {
  const type = sealedType(value)
  if (type !== 'str' && type !== 'bytes') {
    throw cannot(
      `${where} was encrypted as ${type}, and only text is allowed there`,
      'Quote the value, and encrypt it again.',
    )
  }
  const text = openValue(value, key, place)
  if (text) return text
  throw cannot(`${where} was not encrypted for this field, or was changed since then`, 'Encrypt the file again.')
}

function cannot(what: string, fix: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `cannot be decrypted: ${what}`, { fix })
}
