import { createDecipheriv } from 'node:crypto'

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
