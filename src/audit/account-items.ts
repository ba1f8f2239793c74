import { shown } from '../facts/shown.ts'
import { SOURCE_GROUP } from '../flux/kinds.ts'
import { originAt } from '../kube/node.ts'
import { type Binding, displayRbac, RBAC_GROUP } from '../kube/rbac/binding.ts'
import { userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import { ruleAllows } from '../kube/rbac/rule-allows.ts'
import { type AuditItem, place } from './audit-item.ts'
import { type AuditedCluster, isPlatforms, unseenPart } from './audited-cluster.ts'

/** Whether the accounts that everything falls back to hold nothing, in every namespace of a tenant. */
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
        why: 'every pod and every object of Flux that names no account runs as it',
      }
      const who = `the account ${name} of namespace ${shown(namespace)}`
      if (own) {
        const message = `${who} holds rights by ${displayRbac(own.binding)} (${own.binding.roleRef.kind} ${shown(own.binding.roleRef.name)})`
        const origin = originOf(audited, own.binding)
        const fix = 'Bind an account of another name, and name it where it is needed.'
        yield { ...common, state: 'weak', message, fix, ...(origin ? { origin } : {}) }
      } else if (missing || unseen) {
        const message = missing
          ? `${who} is bound by ${displayRbac(missing)} to a role that the fleet does not show`
          : `${who} holds no rights that the fleet shows, but ${unseen}`
        yield { ...common, state: 'unknown', message, fix: 'Let the fleet render the role, or show its source.' }
      } else yield { ...common, state: 'ok', message: `${who} holds no rights`, fix: '' }
    }
  }
}

/** Who besides Flux could write the status of sources, and so deploy what is in no repository. */
export function* statusItems(audited: AuditedCluster): Iterable<AuditItem> {
  const authorizer = audited.index.authorizer(audited.cluster.name)
  const unseen = unseenPart(audited, isPlatforms)
  for (const namespace of tenantNamespaces(audited)) {
    const common = {
      check: 'status-writers',
      subject: namespace,
      why: 'the status of a source holds the address of what Flux deploys: who writes it goes past git and every check',
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
        message: `${displayRbac(binding)} lets ${names} write the status of sources in ${shown(namespace)} (${binding.roleRef.kind} ${shown(binding.roleRef.name)})`,
        fix: 'Bind to a role that names the resources of Flux one by one, without a star and without /status.',
        ...(origin ? { origin } : {}),
      }
    }
    if (writers.length > 0) continue
    const said = `nobody but Flux can write the status of sources in ${shown(namespace)}`
    if (unseen) yield { ...common, state: 'unknown', message: `${said}, as far as the fleet shows; ${unseen}`, fix: '' }
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
