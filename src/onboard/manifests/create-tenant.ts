import { TENANT_LABEL_KEY } from '../../flux/kinds.ts'
import type { ManifestMap } from './print-manifest.ts'

interface NewTenant {
  readonly name: string
  readonly namespaces: readonly string[]
  readonly account: string
  readonly role: string
  /** Annotations of the account, by which capsule-addon-fluxcd makes its binding. */
  readonly addon?: ManifestMap | undefined
  /** Only the account is bound, not the user whom Flux may impersonate instead. */
  readonly isAccountOnly?: boolean
}

/**
 * `flux create tenant`: per namespace the Namespace, an account and its RoleBinding (flux2 cmd/flux/create_tenant.go). The
 * account of the first namespace, as which the tenant's Kustomization applies, is bound in the others, too.
 */
export function createTenant({ name, namespaces, account, role, addon, isAccountOnly }: NewTenant): ManifestMap[] {
  const labels = { [TENANT_LABEL_KEY]: name }
  const bindingOf = (namespace: string): ManifestMap => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { labels, name: `${name}-reconciler`, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [
      ...(isAccountOnly
        ? []
        : [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `gotk:${namespace}:reconciler` }]),
      ...[...new Set([namespace, namespaces[0]!])].map(one => ({
        kind: 'ServiceAccount',
        name: account,
        namespace: one,
      })),
    ],
  })
  return namespaces.flatMap((namespace, index) => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { labels, name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { ...(addon && index === 0 ? { annotations: addon } : {}), labels, name: account, namespace },
    },
    // the addon knows the account that owns the Tenant, which is in the first namespace
    ...(addon && index === 0 ? [] : [bindingOf(namespace)]),
  ])
}
