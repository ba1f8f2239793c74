import { TENANT_LABEL_KEY } from '../flux/kinds.ts'
import { type ManifestMap, printManifests } from './manifests/print-manifest.ts'
import { accountOf, clusterRoleOf, type OnboardRequest } from './request.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** What a fleet's other tenants show of its Capsule. */
export interface CapsuleVersion {
  /** apiVersion of a Tenant. */
  readonly version: string
  /** The annotations by which capsule-addon-fluxcd knows the accounts of the other tenants; absent: it does not run. */
  readonly addon?: Readonly<Record<string, string>>
  /** The key in the kubeconfig Secret, if the accounts of the other tenants use a kubeconfig for Capsule's proxy. */
  readonly kubeConfigKey?: string
  /** Limits in `spec` that every other Tenant has in the same form. */
  readonly shared?: ManifestMap
}

/** Name of the file with these objects. */
export const CAPSULE_FILE = 'capsule.yaml'

/**
 * The Capsule Tenant of a request, and what its account needs at Capsule's proxy: it impersonates itself there, for which
 * capsule-addon-fluxcd makes the rights where it runs. Capsule itself lets its users create and patch namespaces.
 */
export function capsuleManifest(request: OnboardRequest, version: CapsuleVersion): string {
  const [home = ''] = request.namespaces
  const account = accountOf(request)
  const user = `system:serviceaccount:${home}:${account}`
  const subject = { kind: 'ServiceAccount', name: account, namespace: home }
  const impersonator = `${home}-${account}-impersonator`
  // by it, offboarding finds what is of the whole cluster
  const labels = { [TENANT_LABEL_KEY]: request.tenant }
  const tenant = {
    apiVersion: version.version,
    kind: 'Tenant',
    metadata: { labels, name: request.tenant },
    spec: {
      ...version.shared,
      additionalRoleBindings: [{ clusterRoleName: clusterRoleOf(request), subjects: [subject] }],
      owners: [{ kind: 'ServiceAccount', name: user }],
    },
  }
  return printManifests([
    tenant,
    ...(version.addon ? [] : impersonation({ labels, name: impersonator }, user, subject)),
  ])
}

function impersonation(metadata: ManifestMap & { name: string }, user: string, subject: ManifestMap): ManifestMap[] {
  const rules = [{ apiGroups: [''], resourceNames: [user], resources: ['users'], verbs: ['impersonate'] }]
  const apiVersion = `${RBAC}/v1`
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: metadata.name }
  return [
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects: [subject] },
  ]
}
