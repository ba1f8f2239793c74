import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { armor, Encrypter } from 'age-encryption'

type Plain = Readonly<Record<string, unknown>>

const TIME = '2026-01-01T00:00:00Z'

/** What `sops encrypt --encrypted-regex REGEX` makes of a document, as JSON; `type`: of all its texts. */
export async function sealDocument(
  document: Plain,
  recipient: string,
  options: { onlyEncrypted?: boolean; regex?: string; type?: string } = {},
): Promise<Record<string, unknown>> {
  const key = randomBytes(32)
  const { regex = '^(data|stringData)$' } = options
  const isSelected = (step: string) => new RegExp(regex).test(step)
  const hash = createHash('sha512')
  if (options.onlyEncrypted) hash.update(createHash('sha256').update('sops').digest())
  const walk = (value: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map(item => walk(item, path))
    if (value !== null && typeof value === 'object') {
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, [...path, name])]))
    }
    if (value === null) return null
    const text = typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value)
    const encrypted = path.some(isSelected)
    if (!options.onlyEncrypted || encrypted) hash.update(text)
    const type = typeof value === 'boolean' ? 'bool' : typeof value === 'number' ? 'int' : (options.type ?? 'str')
    return encrypted ? seal(key, text, `${path.join(':')}:`, type) : value
  }
  const sealed = walk(document, []) as Record<string, unknown>
  const encrypter = new Encrypter()
  encrypter.addRecipient(recipient)
  const enc = armor.encode(await encrypter.encrypt(key))
  const sops = {
    age: [{ recipient, enc }],
    lastmodified: TIME,
    mac: seal(key, hash.digest('hex').toUpperCase(), TIME, 'str'),
    encrypted_regex: regex,
    ...(options.onlyEncrypted ? { mac_only_encrypted: true } : {}),
    version: '3.9.0',
  }
  return { ...sealed, sops }
}

function seal(key: Buffer, text: string, place: string, type: string): string {
  const nonce = randomBytes(32)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(place))
  const data = Buffer.concat([cipher.update(text), cipher.final()])
  const parts = [data, nonce, cipher.getAuthTag()].map(part => part.toString('base64'))
  return `ENC[AES256_GCM,data:${parts[0]},iv:${parts[1]},tag:${parts[2]},type:${type}]`
}
