import { generateKeyPairSync } from 'node:crypto'

/** An SSH key pair in memory. */
interface KeyPair {
  /** PEM of PKCS #8, as the flux CLI writes it; the caller erases it. */
  readonly privateKey: Uint8Array
  /** `ssh-ed25519 ...`, without a comment. */
  readonly publicKey: string
}

/** Length of an Ed25519 public key. */
const PUBLIC_BYTES = 32
const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')

/** Makes a key pair. The private half is never a string, because strings cannot be erased. */
export function newKeyPair(): KeyPair {
  const made = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  try {
    const publicBytes = made.publicKey.subarray(-PUBLIC_BYTES)
    const blob = Buffer.concat([sized(Buffer.from('ssh-ed25519')), sized(publicBytes)])
    return { privateKey: pemOf(made.privateKey), publicKey: `ssh-ed25519 ${blob.toString('base64')}` }
  } finally {
    made.privateKey.fill(0)
  }
}

function sized(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(bytes.length)
  return Buffer.concat([size, bytes])
}

/** 48 bytes: one line of base64 without padding. */
function pemOf(der: Buffer): Buffer {
  const [head, tail] = [Buffer.from('-----BEGIN PRIVATE KEY-----\n'), Buffer.from('\n-----END PRIVATE KEY-----\n')]
  const pem = Buffer.alloc(head.length + (der.length / 3) * 4 + tail.length)
  head.copy(pem)
  let at = head.length
  for (let index = 0; index < der.length; index += 3) {
    const group = der.readUIntBE(index, 3)
    for (const shift of [18, 12, 6, 0]) pem[at++] = ALPHABET[(group >> shift) & 63]!
  }
  tail.copy(pem, at)
  return pem
}
