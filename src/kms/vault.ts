import type { KmsKey } from '../kube/kms-key.ts'
import type { ServiceKey } from '../kube/sops-services.ts'
import { ask, type KmsWorld, textIn } from './ask.ts'
import { kmsFailure } from './kms-failure.ts'
import { readCredential, unusable } from './read-credential.ts'

/** Decrypt of the transit engine of Vault (API, "Decrypt data"), at the address and with the key that are listed. */
export async function openByVault(listed: KmsKey, { enc }: ServiceKey, world: KmsWorld): Promise<Uint8Array> {
  const { credentials, key } = listed
  if (credentials.type !== 'file') throw unusable(listed)
  const token = await readCredential(listed, credentials.file)
  if (!/^[\x21-\x7e]{1,8192}$/.test(token)) throw unusable(listed)
  const { status, text } = await ask(
    listed,
    {
      url: key.replace(/\/keys\/([^/]{1,100})$/, '/decrypt/$1'),
      headers: { 'x-vault-token': token, 'x-vault-request': 'true', 'content-type': 'application/json' },
      body: JSON.stringify({ ciphertext: enc }),
    },
    world,
  )
  if (status === 200) return Buffer.from(textIn(text, 'data.plaintext'), 'base64')
  const fix =
    'Allow `update` on the decrypt path of this key to the token of the worker, and encrypt the file for this key.'
  throw kmsFailure(listed, `it is refused with status ${status}`, fix)
}
