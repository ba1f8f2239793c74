import { BailiwickError } from '../errors.ts'
import type { Json, Node } from '../kube/node.ts'
import { dataKey, type Identities } from './data-key.ts'
import { isSealedValue, openValue, sealedType } from './open-value.ts'

/**
 * A Secret or ConfigMap with the values of its `data` in clear, as kustomize-controller decrypts it: each sealed value is
 * bound to its own field by SOPS, so that none can be moved to another. A value of `data` that holds a sealed one in base64
 * was written as `stringData`. `block`: what SOPS wrote beside the values. Throws `cluster-invalid`, without any value, where
 * no identity opens it or a value is not what was sealed there. `isSubstituted`: Flux would substitute variables in it; a
 * value that has some is refused.
 */
export async function decryptObject(
  object: { readonly [key: string]: Json },
  block: Node,
  identities: Identities,
  isSubstituted = false,
): Promise<{ [key: string]: Json }> {
  const key = await dataKey(block, identities)
  if (!key) throw cannot('none of the keys opens it', 'Encrypt it for a key of the Secret that spec.decryption names.')
  try {
    const { sops: _sops, ...rest } = object
    const plainObject: { [key: string]: Json } = rest
    for (const field of VALUES) {
      const values = object[field]
      if (values === undefined || values === null || typeof values !== 'object' || Array.isArray(values)) continue
      const open = ([name, value]: readonly [string, Json]) => {
        const { text, value: plain } = opened(field, name, value, key)
        // what stood in base64 when Flux substitutes has none
        const isText = text !== undefined && (object.kind !== 'Secret' || field !== 'data' || text.isInner)
        if (isSubstituted && isText) refuseVariables(`${field}.${name}`, text.bytes)
        text?.bytes.fill(0)
        return [name, plain] as const
      }
      plainObject[field] = Object.fromEntries(Object.entries(values).map(open))
    }
    return plainObject
  } finally {
    key.fill(0)
  }
}

const VALUES = ['data', 'stringData', 'binaryData'] as const

interface Opened {
  readonly value: Json
  /** Of a sealed value. `isInner`: it was sealed as text, and stands in base64 now. */
  readonly text?: { readonly bytes: Buffer; readonly isInner: boolean }
}

function opened(field: (typeof VALUES)[number], name: string, value: Json, key: Uint8Array): Opened {
  if (typeof value !== 'string') return { value }
  const where = `${field}.${name}`
  if (isSealedValue(value)) {
    const bytes = plain(where, value, key, `${field}:${name}:`)
    return { value: bytes.toString('utf8'), text: { bytes, isInner: false } }
  }
  const inner = field === 'data' ? innerOf(value) : undefined
  if (inner === undefined) return { value }
  const bytes = plain(where, inner, key, `stringData:${name}:`)
  return { value: bytes.toString('base64'), text: { bytes, isInner: true } }
}

function refuseVariables(where: string, text: Buffer): void {
  if (!text.includes('$' + '{') && !text.includes('$$')) return
  throw cannot(
    `${where} has a variable, and variables in decrypted values are not supported`,
    'Leave it out, or annotate the object kustomize.toolkit.fluxcd.io/substitute: disabled.',
  )
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
