import type { ManifestMap } from './print-manifest.ts'

/** What both kinds of sources have. Durations as Go prints them. */
interface NewSource {
  readonly apiVersion: string
  readonly name: string
  readonly namespace: string
  readonly url: string
  readonly interval: string
  readonly secret: string | undefined
}

/** `flux create source git` (flux2 cmd/flux/create_source_git.go). */
export function createSourceGit(
  source: NewSource & { readonly ref: ManifestMap; readonly provider: string | undefined },
): ManifestMap {
  const { apiVersion, name, namespace, url, interval, secret, ref, provider } = source
  return {
    apiVersion,
    kind: 'GitRepository',
    metadata: { name, namespace },
    spec: { interval, provider, ref, secretRef: secretRef(secret), url },
  }
}

/** `flux create source oci` (flux2 cmd/flux/create_source_oci.go). */
export function createSourceOci(source: NewSource & { readonly ref: ManifestMap }): ManifestMap {
  const { apiVersion, name, namespace, url, interval, secret, ref } = source
  return {
    apiVersion,
    kind: 'OCIRepository',
    metadata: { name, namespace },
    spec: { interval, provider: 'generic', ref, secretRef: secretRef(secret), url },
  }
}

const secretRef = (name: string | undefined) => (name === undefined ? undefined : { name })
