import { isArtifact, type OnboardRequest, secretOf, sourceAddress } from '../request.ts'

/** What people give for a source that is not read by an SSH key. `privateKey`: PEM. */
export type GivenCredential =
  | { readonly kind: 'token'; readonly username: string; readonly password: string }
  | { readonly kind: 'app'; readonly appId: string; readonly installationId: string; readonly privateKey: string }

/** The Secret of a source in clear, as `flux create secret git`, `githubapp` and `oci` write it (flux2 pkg/manifestgen/sourcesecret). */
export function sourceSecret(request: OnboardRequest, credential: GivenCredential) {
  const metadata = { name: secretOf(request)!, namespace: request.namespaces[0]! }
  const plain = { apiVersion: 'v1', kind: 'Secret', metadata }
  if (credential.kind === 'app') {
    const { appId, installationId, privateKey } = credential
    const stringData = { githubAppID: appId, githubAppInstallationID: installationId, githubAppPrivateKey: privateKey }
    return { ...plain, stringData, type: 'Opaque' }
  }
  const { username, password } = credential
  if (!isArtifact(request)) return { ...plain, stringData: { password, username } }
  const auth = Buffer.from(`${username}:${password}`).toString('base64')
  const auths = { [new URL(sourceAddress(request)).host]: { username, password, auth } }
  const stringData = { '.dockerconfigjson': goJson({ auths }) }
  return { ...plain, stringData, type: 'kubernetes.io/dockerconfigjson' }
}

/** Indented JSON as Go writes it. */
const goJson = (value: unknown) =>
  JSON.stringify(value, undefined, 2).replaceAll(
    /[<>&\u2028\u2029]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
