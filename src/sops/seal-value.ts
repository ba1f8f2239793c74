import { createCipheriv } from 'node:crypto'

/** Of SOPS; readers take any. */
const NONCE_BYTES = 32

/** `randomBytes` of node:crypto: nothing less. */
export type RandomBytes = (size: number) => Uint8Array

/** What SOPS encrypts; bytes are text that is not kept as a string. */
export type PlainScalar = string | Uint8Array | number | boolean

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
export function bytesOf(value: PlainScalar): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'boolean') return Buffer.from(value ? 'True' : 'False')
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new TypeError('only whole numbers are sealed')
  return Buffer.from(String(value))
}
