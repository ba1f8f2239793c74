import { BailiwickError } from '../../errors.ts'
import type { Entry } from '../../kustomize/model/entry.ts'
import type { Recipient } from './sealing-rule.ts'

/** The keys that need a cloud, or a server of the operator: what a rule or a key group calls them. */
export const REMOTE_KEYS: ReadonlyMap<string, string> = new Map([
  ['kms', 'AWS KMS'],
  ['gcp_kms', 'GCP KMS'],
  ['hckms', 'Huawei Cloud KMS'],
  ['azure_keyvault', 'Azure Key Vault'],
  ['hc_vault_transit_uri', 'HashiCorp Vault'],
  ['hc_vault', 'HashiCorp Vault'],
])

/** An age recipient as SOPS accepts it, if it can be used without a program or a cloud. Throws `sops-config`. */
export async function ageRecipient({ text, origin }: Entry, path: string): Promise<Recipient> {
  if (/^AGE-SECRET-KEY-/i.test(text)) {
    throw new BailiwickError('sops-config', 'age: a private key is not a recipient', {
      fix: 'Replace it with its public key (`age-keygen -y`), and make a new key: this one is already in git.',
      origin,
    })
  }
  const shown = JSON.stringify(text.slice(0, 80))
  const other = text.startsWith('ssh-') ? 'an SSH key' : isPlugin(text) ? 'a recipient of an age plugin' : undefined
  if (other !== undefined) {
    throw new BailiwickError('sops-config', `age: ${shown} is ${other}, which Bailiwick cannot encrypt to`, {
      fix: sealByHand(path),
      origin,
    })
  }
  const { Encrypter } = await import('age-encryption')
  try {
    new Encrypter().addRecipient(text)
  } catch {
    // the library says in plain errors that a checksum or a length is wrong
    throw new BailiwickError('sops-config', `age: ${shown} is not a valid recipient`, {
      fix: 'Write the public key as `age-keygen -y` prints it: age1...',
      origin,
    })
  }
  return { kind: 'age', text, origin }
}

const isPlugin = (text: string) => text.startsWith('age1') && !text.startsWith('age1pq1') && text.lastIndexOf('1') > 3

/** The fingerprint of a PGP key. A key id is refused: keys with the same id can be made. Throws `sops-config`. */
export function pgpRecipient({ text, origin }: Entry): Recipient {
  const fingerprint = text.replaceAll(' ', '').toUpperCase()
  if (/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/.test(fingerprint)) return { kind: 'pgp', text: fingerprint, origin }
  const shown = JSON.stringify(text.slice(0, 80))
  throw new BailiwickError('sops-config', `pgp: ${shown} is not a fingerprint`, {
    fix: 'Write all 40 hex digits, as `gpg --list-keys --with-colons` prints them in a line that begins with fpr.',
    origin,
  })
}

/** What to do where SOPS itself must encrypt a file. */
export const sealByHand = (path: string): string =>
  `Write the file in clear outside of git, run \`sops encrypt --in-place ${path}\` where that key can be used, and commit the result.`
