import { type OnboardRequest, secretOf } from '../request.ts'

/** A key pair for a source, and how the cluster knows the host. */
interface SshCredential {
  /** PEM. */
  readonly privateKey: Uint8Array
  /** `ssh-ed25519 ...`. */
  readonly publicKey: string
  /** Lines of `known_hosts`. */
  readonly knownHosts: readonly string[]
}

/** The Secret of a source that is read over SSH, in clear (flux2 pkg/manifestgen/sourcesecret). Its bytes are the caller's to erase. */
export function authSecret(request: OnboardRequest, { privateKey, publicKey, knownHosts }: SshCredential) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretOf(request)!, namespace: request.namespaces[0]! },
    stringData: { identity: privateKey, 'identity.pub': `${publicKey}\n`, known_hosts: knownHosts.join('\n') },
  }
}
