import { BailiwickError } from '../errors.ts'
import type { Recipient } from './rules/sealing-rule.ts'

/** The data key of a document as one recipient can open it: an item of `sops.age` or `sops.pgp`. */
export type SealedKey = Readonly<Record<'enc' | 'recipient' | 'fp' | 'created_at', string | undefined>>

/**
 * Encrypts a data key to a recipient. `publicKeys`: armored PGP keys among which the one with the fingerprint is looked for.
 * Throws `sops-config` where it is not there, or cannot encrypt (expired, revoked, weak).
 */
export async function sealDataKey(
  key: Uint8Array,
  recipient: Recipient,
  { publicKeys, time }: { readonly publicKeys: readonly string[]; readonly time: string },
): Promise<SealedKey> {
  const none = { recipient: undefined, fp: undefined, created_at: undefined }
  if (recipient.kind === 'age') return { ...none, enc: await byAge(key, recipient), recipient: recipient.text }
  return { ...none, enc: await byPgp(key, recipient, publicKeys), fp: recipient.text, created_at: time }
}

async function byAge(key: Uint8Array, { text }: Recipient): Promise<string> {
  const { armor, Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  encrypter.addRecipient(text)
  return armor.encode(await encrypter.encrypt(key))
}

async function byPgp(key: Uint8Array, recipient: Recipient, publicKeys: readonly string[]): Promise<string> {
  const { createMessage, encrypt } = await import('openpgp')
  const encryptionKeys = await publicKeyOf(recipient, publicKeys)
  const message = await createMessage({ binary: key })
  try {
    return (await encrypt({ message, encryptionKeys, format: 'armored' })).trimEnd()
  } catch (cause) {
    // the library throws plain errors for keys that are expired, revoked, or cannot encrypt
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    throw new BailiwickError('sops-config', `pgp: the key ${recipient.text} cannot encrypt${why}`, {
      fix: 'Replace the key in .sops.yaml, or commit it with a new expiry date.',
      origin: recipient.origin,
      cause,
    })
  }
}

async function publicKeyOf({ text, origin }: Recipient, publicKeys: readonly string[]) {
  const { readKeys } = await import('openpgp')
  for (const armoredKeys of publicKeys) {
    try {
      const keys = await readKeys({ armoredKeys })
      const found = keys.find(key => key.getFingerprint().toUpperCase() === text)
      if (found) return found.toPublic()
    } catch {
      // a file of that name that is not a key; which one is missing is said below
    }
  }
  throw new BailiwickError('sops-config', `pgp: the fleet does not contain the public key ${text}`, {
    fix: `Commit it: \`gpg --export --armor ${text} > .sops.pub.asc\`, beside .sops.yaml or in a folder of clusters.`,
    origin,
  })
}
