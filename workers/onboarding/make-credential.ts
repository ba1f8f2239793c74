import { randomBytes } from 'node:crypto'
import { BailiwickError } from '../../src/errors.ts'
import type { Tree } from '../../src/git/tree.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { readHostKeys } from '../../src/github/keys/host-keys.ts'
import { authSecret, type SecretFrame } from '../../src/onboard/credential/auth-secret.ts'
import { publicKeysIn } from '../../src/sops/public-keys-in.ts'
import type { SealingRule } from '../../src/sops/rules/sealing-rule.ts'
import { sealSecret } from '../../src/sops/seal-document.ts'
import { newKeyPair } from './key-pair.ts'

/** A Secret with a new private key, sealed, and the public half of the key. */
interface SealedCredential {
  readonly sealed: string
  readonly publicKey: string
}

/** A Secret to make: what of it is in clear, and the address that the cluster reads with it. */
interface WantedCredential {
  readonly frame: SecretFrame
  readonly address: string
}

/**
 * Makes a key pair and seals its private half by a creation rule. The private half is in this process for as long as that
 * takes, and erased then. Throws `sops-config`.
 */
export async function makeCredential(
  octokit: Octokit,
  fleet: Tree,
  { frame, address }: WantedCredential,
  rule: SealingRule,
): Promise<SealedCredential> {
  const { host } = new URL(address)
  const knownHosts = (await readHostKeys(octokit)).map(key => `${host} ${key}`)
  if (knownHosts.length === 0) {
    throw new BailiwickError('onboard-layout', `${host} does not publish its SSH keys, so they cannot be pinned`, {
      fix: 'Use --access token, or add the Secret by hand.',
    })
  }
  const { privateKey, publicKey } = newKeyPair()
  try {
    const secret = authSecret(frame, { privateKey, publicKey, knownHosts })
    const publicKeys = rule.recipients.some(({ kind }) => kind === 'pgp') ? publicKeysIn(fleet) : []
    return { sealed: await sealSecret(secret, rule, { now: new Date(), random: randomBytes, publicKeys }), publicKey }
  } finally {
    privateKey.fill(0)
  }
}
