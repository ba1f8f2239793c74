import type { KmsKey } from '../kube/kms-key.ts'
import { isListedFor, type ServiceKey } from '../kube/sops-services.ts'
import type { KmsWorld } from './ask.ts'
import { openByAws } from './aws.ts'
import { openByAzure } from './azure.ts'
import { openByGcp } from './gcp.ts'
import { HeldTokens } from './held-tokens.ts'
import { kmsFailure } from './kms-failure.ts'
import type { AwsCredentials } from './sign-aws.ts'
import { openByVault } from './vault.ts'

/** The services whose keys the operator lists for a cluster. */
export interface Kms {
  /** Whether Kustomizations of the namespace may use any. */
  isListed(namespace: string): boolean
  /**
   * The data key, as the service opens it for a Kustomization in `namespace`; undefined for a key that is not listed for it:
   * nobody is called then. Throws `cluster-invalid` without any secret.
   */
  open(namespace: string, key: ServiceKey): Promise<Uint8Array | undefined>
}

/** Nothing but these keys is used, each at the address that follows from how it is listed. */
export function openKms(keys: readonly KmsKey[], world: KmsWorld = { now: Date.now }): Kms {
  const tokens = new HeldTokens<string>()
  const sessions = new HeldTokens<AwsCredentials>()
  const ask = async (listed: KmsKey, key: ServiceKey): Promise<Uint8Array> => {
    switch (listed.service) {
      case 'aws':
        return await openByAws(listed, key, sessions, world)
      case 'gcp':
        return await openByGcp(listed, key, tokens, world)
      case 'vault':
        return await openByVault(listed, key, world)
      case 'azure':
        return await openByAzure(listed, key, tokens, world)
    }
  }
  return {
    isListed: namespace => keys.some(({ namespaces }) => namespaces.includes(namespace)),
    async open(namespace, key) {
      const listed = keys.find(one => isListedFor(one, key, namespace))
      if (!listed) return undefined
      const plain = await ask(listed, key)
      if (plain.length === DATA_KEY_BYTES) return plain
      throw kmsFailure(listed, `what it opens has ${plain.length} bytes, and a data key has ${DATA_KEY_BYTES}`)
    },
  }
}

const DATA_KEY_BYTES = 32
