import { shown } from '../facts/shown.ts'
import { SOURCE_GROUP } from '../flux/kinds.ts'
import { originAt } from '../kube/node.ts'
import { type Binding, displayRbac, RBAC_GROUP } from '../kube/rbac/binding.ts'
import { userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import { ruleAllows } from '../kube/rbac/rule-allows.ts'
import { type AuditItem, place } from './audit-item.ts'
import { type AuditedCluster, isPlatforms, unseenPart } from './audited-cluster.ts'

/** Checks that the default service accounts in tenant namespaces have no rights. */
export function* accountItems(audited: AuditedCluster): Iterable<AuditItem> {
  const { cluster, index } = audited
  const { defaultServiceAccount, helmDefaultServiceAccount } = cluster.lockdown
  const names = new Set(['default', defaultServiceAccount ?? '', helmDefaultServiceAccount ?? ''])
  names.delete('')
  const unseen = unseenPart(audited, isPlatforms)
  const authorizer = index.authorizer(cluster.name)
  for (const namespace of tenantNamespaces(audited)) {
    for (const name of names) {
      const { grants, unresolved } = authorizer.held(userInfo(userOfAccount(namespace, name)), namespace)
      const own = grants.find(({ binding }) => !isStandard(binding.roleRef.name))
      const missing = unresolved[0]
      const subject = `${namespace}/${name}`
      const common = {
        check: 'default-account',
        subject,
        why: 'every pod and every Flux object without a service account of its own runs as this account',
      }
      const who = `service account ${name} of namespace ${shown(namespace)}`
      if (own) {
        const message = `${displayRbac(own.binding)} gives ${own.binding.roleRef.kind} ${shown(own.binding.roleRef.name)} to ${who}`
        const origin = originOf(audited, own.binding)
        const fix = 'Bind the role to a separate service account, and set that account where the rights are needed.'
        yield { ...common, state: 'weak', message, fix, ...(origin ? { origin } : {}) }
      } else if (missing || unseen) {
        const message = missing
          ? `${displayRbac(missing)} binds ${who} to a role that the fleet does not render`
          : `${who} has no rights in what the fleet renders, but ${unseen}`
        yield { ...common, state: 'unknown', message, fix: 'Render the role in the fleet, or make its source visible.' }
      } else yield { ...common, state: 'ok', message: `${who} has no rights`, fix: '' }
    }
  }
}

/** Bindings that let a tenant write the status of sources, and so deploy content from outside any repository. */
export function* statusItems(audited: AuditedCluster): Iterable<AuditItem> {
  const authorizer = audited.index.authorizer(audited.cluster.name)
  const unseen = unseenPart(audited, isPlatforms)
  for (const namespace of tenantNamespaces(audited)) {
    const common = {
      check: 'status-writers',
      subject: namespace,
      why: 'the status of a source holds the address of the artifact that Flux deploys: writing it bypasses git and every check',
    }
    const writers = bindingsFor(audited, namespace).filter(binding => {
      const rules = binding.subjects.length > 0 ? (authorizer.rulesOf(binding.roleRef, binding.namespace) ?? []) : []
      return rules.some(rule => ruleAllows(rule, statusOf(namespace)))
    })
    for (const binding of writers) {
      const origin = originOf(audited, binding)
      const names = binding.subjects.map(({ kind, name }) => `${kind} ${shown(name)}`).join(', ')
      yield {
        ...common,
        state: 'weak',
        message: `${displayRbac(binding)} gives ${binding.roleRef.kind} ${shown(binding.roleRef.name)} to ${names}, which includes writing the status of sources in ${shown(namespace)}`,
        fix: 'Bind a role that lists Flux resources by name, without `*` and without `/status`.',
        ...(origin ? { origin } : {}),
      }
    }
    if (writers.length > 0) continue
    const said = `only Flux can write the status of sources in ${shown(namespace)}`
    if (unseen)
      yield { ...common, state: 'unknown', message: `${said}, as far as the fleet is visible; ${unseen}`, fix: '' }
    else yield { ...common, state: 'ok', message: said, fix: '' }
  }
}

const statusOf = (namespace: string) => ({
  verb: 'patch',
  apiGroup: SOURCE_GROUP,
  resource: 'gitrepositories',
  subresource: 'status',
  namespace,
  name: 'x',
})

/** RoleBindings of a namespace, and ClusterRoleBindings that name an account of it or all of them. */
function bindingsFor({ cluster, index }: AuditedCluster, namespace: string): Binding[] {
  const { bindings } = index.authorizer(cluster.name)
  const groups = [`system:serviceaccounts:${namespace}`, 'system:serviceaccounts', 'system:authenticated']
  const isOf = ({ kind, name, namespace: own }: Binding['subjects'][number]) =>
    kind === 'ServiceAccount' ? own === namespace : kind === 'Group' && groups.includes(name)
  const wide = bindings.inNamespace('').filter(({ subjects }) => subjects.some(isOf))
  return [...wide, ...bindings.inNamespace(namespace)]
}

function originOf({ cluster, index }: AuditedCluster, binding: Binding) {
  const versions = index.versionsOf(cluster.name, `${RBAC_GROUP}/${binding.kind}`, binding.namespace, binding.name)
  const object = versions.at(-1)?.object
  return object && place(originAt(object.root, ['roleRef', 'name']))
}

/** Roles that everybody holds who is logged in: they show what there is, and nothing else. */
const isStandard = (role: string) =>
  [
    'system:basic-user',
    'system:discovery',
    'system:public-info-viewer',
    'system:service-account-issuer-discovery',
  ].includes(role)

/** Namespaces of tenants, sorted. */
function tenantNamespaces({ cluster }: AuditedCluster): string[] {
  return [...(cluster.owners?.keys() ?? [])].sort()
}
