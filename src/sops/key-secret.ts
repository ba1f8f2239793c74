import { generateIdentity, identityToRecipient } from 'age-encryption'

/** A new age key: its private half in a Secret from which kustomize-controller reads it, and its public half. */
interface KeySecret {
  /** The manifest, with the private key in clear. */
  readonly secret: string
  readonly recipient: string
}

/** Makes the age key of a cluster. The data key ends with `.agekey`: kustomize-controller looks for that. */
export async function keySecret(place: { readonly namespace: string; readonly secret: string }): Promise<KeySecret> {
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  const secret = `apiVersion: v1
kind: Secret
metadata:
  name: ${JSON.stringify(place.secret)}
  namespace: ${JSON.stringify(place.namespace)}
stringData:
  age.agekey: |
    # public key: ${recipient}
    ${identity}
`
  return { secret, recipient }
}
