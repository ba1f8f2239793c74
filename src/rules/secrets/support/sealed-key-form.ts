/** What is written for an X25519 or hybrid recipient of age opens to the data key: 16 bytes nonce, 32 of the key, 16 of the tag. */
const AGE_BODY = 64
const AGE_ARMOR = /^-----BEGIN AGE ENCRYPTED FILE-----\r?\n([A-Za-z0-9+/=\s]+)-----END AGE ENCRYPTED FILE-----$/
const STANZA = '(?:-> [^\\n]{1,4096}\\n(?:[A-Za-z0-9+/]{64}\\n){0,512}[A-Za-z0-9+/]{0,63}\\n)'
const AGE_FILE = new RegExp(`^age-encryption\\.org/v1\\n(${STANZA}{1,64})--- [A-Za-z0-9+/]{43}\\n`)
const X25519 = /^-> X25519 [A-Za-z0-9+/]{43}\n[A-Za-z0-9+/]{43}\n/m
const ENCRYPTED_DATA = [9, 18, 20]
const SESSION_KEY = 1

/** Whether text has a form that age opens with the key of a recipient. It may still be for another one. */
export function isAgeForm(text: string, recipient: string): boolean {
  const [, body = ''] = AGE_ARMOR.exec(text.trim()) ?? []
  const bytes = Buffer.from(body, 'base64')
  const header = AGE_FILE.exec(bytes.toString('latin1'))
  if (!header || bytes.length - header[0].length !== AGE_BODY) return false
  return !/^age:age1[02-9ac-hj-np-z]{58}$/.test(recipient) || X25519.test(header[1]!)
}

/** Whether text has a form that PGP opens: keys of sessions, then encrypted data. */
export function isPgpForm(text: string): boolean {
  // as lenient as the programs: what is before an empty line are headers, behind a checksum comes nothing
  const lines = text.replaceAll('\r', '').split('\n')
  const body = lines.slice(lines.findIndex(line => line.includes('-----BEGIN ')) + 1)
  const from = body.findIndex(line => line.trim() === '') + 1
  const bytes = Buffer.from(
    body
      .slice(from)
      .join('')
      .replace(/[=-].*$/, ''),
    'base64',
  )
  const tags: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const packet = packetAt(bytes, at)
    if (!packet || packet.end > bytes.length) return false
    tags.push(packet.tag)
    if (ENCRYPTED_DATA.includes(packet.tag)) return tags.includes(SESSION_KEY)
    at = packet.end
  }
  return false
}

/** RFC 9580, section 4.2. Of data in parts the first one says that it is there. */
function packetAt(bytes: Buffer, at: number): { readonly tag: number; readonly end: number } | undefined {
  const first = bytes[at]!
  if ((first & 0x80) === 0) return undefined
  const [one = 0, two = 0] = bytes.subarray(at + 1)
  if ((first & 0x40) === 0) {
    const size = [1, 2, 4, 0][first & 3]!
    const length =
      size === 0 ? bytes.length - at - 1 : at + 1 + size > bytes.length ? Infinity : bytes.readUIntBE(at + 1, size)
    return { tag: (first >> 2) & 15, end: at + 1 + size + length }
  }
  const tag = first & 63
  if (one < 192) return { tag, end: at + 2 + one }
  if (one < 224) return { tag, end: at + 3 + (one - 192) * 256 + two + 192 }
  if (one < 255) return { tag, end: at + 2 + 2 ** (one & 31) }
  return { tag, end: at + 6 > bytes.length ? Infinity : at + 6 + bytes.readUInt32BE(at + 2) }
}
