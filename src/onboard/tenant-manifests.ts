import { apiVersionOf, GIT_REPOSITORY, KUSTOMIZATION, OCI_REPOSITORY } from '../flux/kinds.ts'
import type { CapsuleVersion } from './capsule-objects.ts'
import { createKustomization } from './manifests/create-kustomization.ts'
import { createSourceGit, createSourceOci } from './manifests/create-source.ts'
import { createTenant } from './manifests/create-tenant.ts'
import { printManifests } from './manifests/print-manifest.ts'
import {
  accountOf,
  clusterRoleOf,
  isArtifact,
  keySecretOf,
  kubeConfigSecretOf,
  type OnboardRequest,
  secretOf,
  sourceAddress,
} from './request.ts'
import type { VersionOf } from './served-version.ts'

/**
 * Namespaces, accounts and their rights, as `flux create tenant --export` prints them. Flux impersonates no user on a cluster
 * with Capsule, and where capsule-addon-fluxcd runs, it makes the binding of an account that its annotations name.
 */
export function tenantManifest(request: OnboardRequest, capsule?: CapsuleVersion): string {
  const { tenant: name, namespaces } = request
  const tenant = { name, namespaces, account: accountOf(request), role: clusterRoleOf(request) }
  return printManifests(createTenant({ ...tenant, ...(capsule ? { addon: capsule.addon, isAccountOnly: true } : {}) }))
}

/**
 * The output of `flux create source` and `flux create kustomization` with `--export`, in the tenant's first namespace.
 * `kubeConfigKey`: the Kustomization uses the kubeconfig of its account.
 */
export function syncManifest(
  request: OnboardRequest,
  kubeConfigKey?: string,
  versionOf: VersionOf = apiVersionOf,
): string {
  const { tenant: name, interval = '1m0s', prune = true, wait = false, timeout = '2m0s', access } = request
  const namespace = request.namespaces[0]!
  const ref = request.ref ? { [request.ref.field]: request.ref.value } : { branch: request.branch }
  const isOci = isArtifact(request)
  const apiVersion = versionOf(isOci ? OCI_REPOSITORY : GIT_REPOSITORY)
  const source = { apiVersion, name, namespace, interval, ref, url: sourceAddress(request), secret: secretOf(request) }
  const provider = access === 'github-app' ? 'github' : undefined
  return printManifests([
    isOci ? createSourceOci(source) : createSourceGit({ ...source, provider }),
    createKustomization({
      apiVersion: versionOf(KUSTOMIZATION),
      name,
      namespace,
      interval,
      prune,
      wait,
      timeout,
      path: './',
      account: accountOf(request),
      decryption: keySecretOf(request),
      kubeConfig: kubeConfigKey === undefined ? undefined : { name: kubeConfigSecretOf(request), key: kubeConfigKey },
      sourceKind: isOci ? 'OCIRepository' : 'GitRepository',
    }),
  ])
}

/** Name of the file with the sealed Secret. */
export const AUTH_FILE = 'auth.yaml'

/** Name of the file with the sealed key that decrypts what the tenant encrypts. */
export const KEY_FILE = 'sops-age.yaml'

/** The base of the tenant; no `namespace`, each object names its own. */
export function baseKustomization(files: readonly string[]): string {
  return `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
${files.map(file => `  - ${file}\n`).join('')}`
}

/** The patch of one cluster's overlay that says which directory of the tenant's repository this cluster gets. */
export function pathPatch({ tenant, namespaces }: OnboardRequest, path: string, versionOf: VersionOf): string {
  const metadata = { name: tenant, namespace: namespaces[0]! }
  const patch = { apiVersion: versionOf(KUSTOMIZATION), kind: 'Kustomization', metadata, spec: { path } }
  return printManifests([patch]).slice('---\n'.length)
}
