/** A key pair for a source, and how the cluster knows the host. */
interface SshCredential {
  /** PEM. */
  readonly privateKey: Uint8Array
  /** `ssh-ed25519 ...`. */
  readonly publicKey: string
  /** Lines of `known_hosts`. */
  readonly knownHosts: readonly string[]
}

/** What of a Secret is no secret. */
export interface SecretFrame {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly type?: string
}

/** The Secret of a source that is read over SSH, in clear (flux2 pkg/manifestgen/sourcesecret). Its bytes are the caller's to erase. */
export function authSecret(frame: SecretFrame, { privateKey, publicKey, knownHosts }: SshCredential) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    ...frame,
    stringData: { identity: privateKey, 'identity.pub': `${publicKey}\n`, known_hosts: knownHosts.join('\n') },
  }
}
