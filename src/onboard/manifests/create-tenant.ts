import { TENANT_LABEL_KEY } from '../../flux/kinds.ts'
import type { ManifestMap } from './print-manifest.ts'

interface NewTenant {
  readonly name: string
  readonly namespaces: readonly string[]
  readonly account: string
  readonly role: string
}

/** `flux create tenant`: per namespace the Namespace, an account and its RoleBinding (flux2 cmd/flux/create_tenant.go). */
export function createTenant({ name, namespaces, account, role }: NewTenant): ManifestMap[] {
  const labels = { [TENANT_LABEL_KEY]: name }
  return namespaces.flatMap(namespace => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { labels, name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { labels, name: account, namespace } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { labels, name: `${name}-reconciler`, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `gotk:${namespace}:reconciler` },
        { kind: 'ServiceAccount', name: account, namespace },
      ],
    },
  ])
}
