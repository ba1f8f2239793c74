import type { ManifestMap } from './print-manifest.ts'

interface NewKustomization {
  readonly apiVersion: string
  readonly name: string
  readonly namespace: string
  readonly account: string
  readonly sourceKind: 'GitRepository' | 'OCIRepository'
  readonly path: string
  readonly interval: string
  readonly prune: boolean
  /** Waits for all of its objects; at most so long. */
  readonly wait: boolean
  readonly timeout: string
  /** The Secret with the keys of SOPS. */
  readonly decryption: string | undefined
  /** The kubeconfig Secret and its key. */
  readonly kubeConfig?: { readonly name: string; readonly key: string } | undefined
}

/** `flux create kustomization`, from the source of the same name (flux2 cmd/flux/create_kustomization.go). */
export function createKustomization(wanted: NewKustomization): ManifestMap {
  const { name, namespace, account, sourceKind, path, interval, prune, wait, timeout, decryption, kubeConfig } = wanted
  return {
    apiVersion: wanted.apiVersion,
    kind: 'Kustomization',
    metadata: { name, namespace },
    spec: {
      decryption: decryption === undefined ? undefined : { provider: 'sops', secretRef: { name: decryption } },
      interval,
      kubeConfig: kubeConfig === undefined ? undefined : { secretRef: { ...kubeConfig } },
      path,
      prune,
      serviceAccountName: account,
      sourceRef: { kind: sourceKind, name },
      ...(wait ? { timeout, wait } : {}),
    },
  }
}
