import { RBAC_GROUP } from '../kube/rbac/binding.ts'
import type { RulesByNamespace } from '../kube/rbac/least-rules.ts'
import type { PolicyRule } from '../kube/rbac/policy-rule.ts'
import { type ManifestMap, printManifests } from '../onboard/manifests/print-manifest.ts'

/** An account and everything that it may do. */
export interface AccountRights {
  readonly namespace: string
  readonly name: string
  /** Name of its roles and bindings. */
  readonly roles: string
  readonly rules: RulesByNamespace
}

/** Applied by two Kustomizations: the one with the account's roles makes it only where it is missing, and never deletes it. */
const IF_MISSING = {
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
  'kustomize.toolkit.fluxcd.io/ssa': 'IfNotPresent',
}

/** Accounts with their roles and bindings as YAML, and the namespaces that must be there before the roles. */
export function rightsManifest(accounts: readonly AccountRights[], namespaces: readonly string[]): string {
  return printManifests([
    ...namespaces.map(name => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations: IF_MISSING } })),
    ...accounts.flatMap(account => [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account.name, namespace: account.namespace } },
      ...[...account.rules].flatMap(([namespace, rules]) => bound(account, namespace, rules)),
    ]),
  ])
}

function bound(account: AccountRights, namespace: string, rules: readonly PolicyRule[]): ManifestMap[] {
  const kind = namespace === '' ? 'ClusterRole' : 'Role'
  const metadata = { name: account.roles, ...(namespace === '' ? {} : { namespace }) }
  const apiVersion = `${RBAC_GROUP}/v1`
  const subjects = [{ kind: 'ServiceAccount', name: account.name, namespace: account.namespace }]
  return [
    { apiVersion, kind, metadata, rules: rules.map(ruleOf) },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC_GROUP, kind, name: account.roles },
      subjects,
    },
  ]
}

const ruleOf = ({ apiGroups, resources, resourceNames, verbs }: PolicyRule): ManifestMap => ({
  apiGroups,
  resources,
  resourceNames: resourceNames.length > 0 ? resourceNames : undefined,
  verbs,
})
