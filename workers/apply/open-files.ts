import type { ClusterClient } from '../../src/cluster/client.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { NodeValues } from '../../src/fleet/model/cluster-values.ts'
import type { Kms } from '../../src/kms/open-kms.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import { decryptFile } from '../../src/sops/decrypt-file.ts'
import { identitiesOf } from './read-identities.ts'

const MAX_FILES = 64
const MAX_FILE_BYTES = 5 * 1024 * 1024

/**
 * The encrypted files that Secrets of a node are generated from, in clear, by path: opened with the keys that its account may
 * read, and those of services that are listed for its namespace. Throws `cluster-invalid` or `cluster-forbidden`, without any value.
 */
export async function openFiles(client: ClusterClient, node: EvaluatedNode, kms?: Kms): Promise<NodeValues['files']> {
  const { secret, files = [] } = node.decryption ?? {}
  const plain = new Map<string, Uint8Array>()
  if (files.length === 0) return plain
  if (files.length > MAX_FILES) throw tooMuch(`more than ${MAX_FILES} encrypted files`)
  const identities = await identitiesOf(client, node, secret, kms)
  for (const { path, format, text } of files) {
    if (text.length > MAX_FILE_BYTES) throw tooMuch(`${path.slice(0, 200)} has more than ${MAX_FILE_BYTES} bytes`)
    try {
      plain.set(path, await decryptFile(text, format, identities))
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      throw new BailiwickError('cluster-invalid', `${path.slice(0, 200)} ${error.message}`, { fix: error.fix })
    }
  }
  return plain
}

function tooMuch(what: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `secretGenerator: ${what}`, { fix: 'Use fewer or smaller files.' })
}
