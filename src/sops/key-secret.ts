import { generateIdentity, identityToRecipient } from 'age-encryption'

/** A new age key: its private half in a Secret from which kustomize-controller reads it, and its public half. */
interface KeySecret {
  /** With the private key in clear. */
  readonly secret: {
    readonly apiVersion: 'v1'
    readonly kind: 'Secret'
    readonly metadata: { readonly name: string; readonly namespace: string }
    readonly stringData: { readonly 'age.agekey': string }
  }
  readonly recipient: string
}

/** Makes an age key. The data key ends with `.agekey`: kustomize-controller looks for that. */
export async function keySecret(place: { readonly namespace: string; readonly secret: string }): Promise<KeySecret> {
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  const metadata = { name: place.secret, namespace: place.namespace }
  const stringData = { 'age.agekey': `# public key: ${recipient}\n${identity}\n` }
  return { secret: { apiVersion: 'v1', kind: 'Secret', metadata, stringData }, recipient }
}
