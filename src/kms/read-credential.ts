import { readFile } from 'node:fs/promises'
import type { KmsKey } from '../kube/kms-key.ts'
import { kmsFailure } from './kms-failure.ts'

const MAX_CREDENTIAL_BYTES = 64 * 1024

/** The text of a credential as it is now: it may rotate at any time. Throws `cluster-invalid`, without the text and the path. */
export async function readCredential(key: KmsKey, file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  if (text.trim() !== '' && text.length <= MAX_CREDENTIAL_BYTES) return text.trim()
  throw unusable(key)
}

export function unusable(key: KmsKey) {
  const fix = 'Correct the file that this entry of `kmsKeys` names in clusters.yaml.'
  return kmsFailure(key, 'the credentials of the worker for it cannot be used', fix)
}
