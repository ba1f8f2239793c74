import { TENANT_LABEL_KEY } from '../flux/kinds.ts'
import { type ManifestMap, printManifests } from './manifests/print-manifest.ts'
import { accountOf, clusterRoleOf, type OnboardRequest } from './request.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** What a fleet's other tenants show of its Capsule. */
export interface CapsuleVersion {
  /** apiVersion of a Tenant. */
  readonly version: string
  /** The fleet's ClusterRole by which accounts of tenants apply namespaces; absent: each tenant gets one. */
  readonly provisioner?: string
  /** The key in the kubeconfig Secret, if the accounts of the other tenants use a kubeconfig for Capsule's proxy. */
  readonly kubeConfigKey?: string
  /** Limits in `spec` that every other Tenant has in the same form. */
  readonly shared?: ManifestMap
}

/** Name of the file with these objects. */
export const CAPSULE_FILE = 'capsule.yaml'

/**
 * The Capsule Tenant of a request, and what its account needs at Capsule's proxy: steps 1, 2 and 5 of capsule-addon-fluxcd. Capsule
 * itself lets owners only create namespaces; to apply one again, they must be able to patch it.
 */
export function capsuleManifest(request: OnboardRequest, version: CapsuleVersion): string {
  const [home = ''] = request.namespaces
  const account = accountOf(request)
  const user = `system:serviceaccount:${home}:${account}`
  const subject = { kind: 'ServiceAccount', name: account, namespace: home }
  const impersonator = `${home}-${account}-impersonator`
  const provisioner = version.provisioner ?? `${home}-namespace-provisioner`
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
    clusterRole({ labels, name: impersonator }, 'users', 'impersonate', [user]),
    clusterRoleBinding({ labels, name: impersonator }, impersonator, subject),
    ...(version.provisioner === undefined ? [clusterRole({ labels, name: provisioner }, 'namespaces', 'patch')] : []),
    clusterRoleBinding({ labels, name: `${provisioner}-${request.tenant}` }, provisioner, subject),
  ])
}

function clusterRole(
  metadata: ManifestMap,
  resource: string,
  verb: string,
  resourceNames?: readonly string[],
): ManifestMap {
  const rules = [{ apiGroups: [''], resourceNames, resources: [resource], verbs: [verb] }]
  return { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, rules }
}

function clusterRoleBinding(metadata: ManifestMap, role: string, subject: ManifestMap): ManifestMap {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [subject],
  }
}
