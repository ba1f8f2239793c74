import { excessRights } from '../facts/excess-rights.ts'
import { shown } from '../facts/shown.ts'
import { TENANT_ROLE } from '../fleet/tenancy/tenant-role.ts'
import { WRITTEN_RESOURCES } from '../flux/installed-rbac.ts'
import { ROOT_NAMESPACE, SOURCE_GROUP } from '../flux/kinds.ts'
import { originAt } from '../kube/node.ts'
import { type Binding, displayRbac, RBAC_GROUP } from '../kube/rbac/binding.ts'
import { userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import { ruleAllows } from '../kube/rbac/rule-allows.ts'
import { andMore } from '../message/and-more.ts'
import { type AuditItem, place } from './audit-item.ts'
import { type AuditedCluster, isPlatforms, unseenPart } from './audited-cluster.ts'
import { fewNames } from './few-names.ts'

/**
 * Checks that the accounts `default` have no rights, in tenant namespaces and where Flux acts as them in its own. An account of
 * another name that Flux acts as by default is one that has the rights of its tenant (Capsule's reconciler).
 */
export function* accountItems(audited: AuditedCluster): Iterable<AuditItem> {
  const { defaultServiceAccount, helmDefaultServiceAccount } = audited.cluster.lockdown
  const isUsed = [defaultServiceAccount, helmDefaultServiceAccount].includes('default')
  const unseen = unseenPart(audited, isPlatforms)
  const ofFlux = heldBy(audited, ROOT_NAMESPACE)
  const held = audited.namespaces.map(namespace => heldBy(audited, namespace))
  if (isUsed && ofFlux.own) held.push(ofFlux)
  for (const alike of Map.groupBy(held, ({ key }) => key).values()) yield accountItem(audited, alike, unseen)
}

interface HeldThere {
  readonly namespace: string
  readonly own?: Binding
  readonly missing?: Binding
  /** The same for accounts with the same finding. */
  readonly key: string
}

function heldBy({ cluster, index }: AuditedCluster, namespace: string): HeldThere {
  const authorizer = index.authorizer(cluster.name)
  const { grants, unresolved } = authorizer.held(userInfo(userOfAccount(namespace, 'default')), namespace)
  const holder = index.holder(cluster.name, index.ownerOf(cluster.name, namespace) ?? '')
  // what everybody has, and what Capsule's recipe gives to all accounts of a home
  const own = grants.find(({ binding, rule }) => {
    return binding.namespace !== '' || excessRights([rule], holder).length > 0
  })?.binding
  const missing = unresolved.find(({ roleRef }) => !(holder.ofCapsule && /^capsule-namespace-/.test(roleRef.name)))
  const role = own ?? missing
  const key = `${own ? 'own' : 'missing'} ${role?.roleRef.kind} ${role?.roleRef.name}`
  return { namespace, ...(own ? { own } : {}), ...(missing ? { missing } : {}), key }
}

function accountItem(audited: AuditedCluster, alike: readonly HeldThere[], unseen?: string): AuditItem {
  const [{ namespace, own, missing }] = alike as [HeldThere]
  const who = `service account default of ${namespacesText(alike.map(one => one.namespace))}`
  const common = {
    check: 'default-account',
    subject: alike.length === 1 ? `${namespace}/default` : 'default',
    why: 'every pod and every Flux object without a service account of its own runs as this account',
  }
  if (own) {
    const message = `${displayRbac(own)} gives ${roleText(own)} to ${who}`
    const origin = originOf(audited, own)
    const fix = 'Bind the role to a separate service account, and set that account where the rights are needed.'
    return { ...common, state: 'weak', message, fix, ...(origin ? { origin } : {}) }
  }
  if (!missing && !unseen) return { ...common, state: 'ok', message: `${who} has no rights`, fix: '' }
  const message = missing
    ? `${displayRbac(missing)} binds ${who} to a role that the fleet does not render`
    : `${who} has no rights in what the fleet renders, but ${unseen}`
  return { ...common, state: 'unknown', message, fix: 'Render the role in the fleet, or make its source visible.' }
}

/** Roles that let a tenant write the status of sources, and so deploy content from outside any repository: each once. */
export function* statusItems(audited: AuditedCluster): Iterable<AuditItem> {
  const authorizer = audited.index.authorizer(audited.cluster.name)
  const unseen = unseenPart(audited, isPlatforms)
  const writers = audited.namespaces.map(namespace => ({
    namespace,
    bindings: bindingsFor(audited, namespace).filter(({ subjects, roleRef, namespace: place }) => {
      const rules = subjects.length > 0 ? (authorizer.rulesOf(roleRef, place) ?? []) : []
      return rules.some(rule => ruleAllows(rule, statusOf(namespace)))
    }),
  }))
  const bound = writers.flatMap(({ namespace, bindings }) => bindings.map(binding => ({ namespace, binding })))
  for (const alike of Map.groupBy(bound, ({ binding }) => roleText(binding)).values()) yield writerItem(audited, alike)
  const safe = writers.filter(({ bindings }) => bindings.length === 0).map(({ namespace }) => namespace)
  if (safe.length === 0) return
  const statement = `only Flux can write the status of sources in ${namespacesText(safe)}`
  const message = unseen ? `${statement}, as far as the fleet is visible; ${unseen}` : statement
  yield { ...statusCheck(safe), state: unseen ? 'unknown' : 'ok', message, fix: '' }
}

type Bound = { readonly namespace: string; readonly binding: Binding }

function writerItem(audited: AuditedCluster, alike: readonly Bound[]): AuditItem {
  const [{ binding }] = alike as [Bound]
  const namespaces = [...new Set(alike.map(({ namespace }) => namespace))]
  const origin = originOf(audited, binding)
  const role = roleText(binding)
  const ofFlux = isByFlux(audited, binding)
  const by = ofFlux ? `, because ${shown(FLUX_EDIT.name)} of Flux is aggregated into it` : ''
  return {
    ...statusCheck(namespaces),
    state: 'weak',
    message: `${role} includes writing the status of sources${by}; ${displayRbac(binding)}${andMore(alike.length - 1)} gives it in ${namespacesText(namespaces)}`,
    fix: ofFlux ? statusPatch(audited) : statusFix(binding),
    ...(origin ? { origin } : {}),
  }
}

const statusCheck = (namespaces: readonly string[]) => ({
  check: 'status-writers',
  subject: namespaces.length === 1 ? namespaces[0]! : '',
  why: 'the status of a source holds the address of the artifact that Flux deploys: writing it bypasses git and every check',
})

const FLUX_EDIT = { kind: 'ClusterRole', name: `flux-edit-${ROOT_NAMESPACE}` }

/** Whether only what Flux aggregates into a role of Kubernetes allows it: the fleet cannot change that role itself. */
function isByFlux({ cluster, index }: AuditedCluster, { roleRef, namespace }: Binding): boolean {
  const authorizer = index.authorizer(cluster.name)
  if (!authorizer.isAggregated(roleRef, namespace)) return false
  const ofFlux = new Set((authorizer.rulesOf(FLUX_EDIT, '') ?? []).map(rule => JSON.stringify(rule)))
  const others = authorizer.rulesOf(roleRef, namespace)?.filter(rule => !ofFlux.has(JSON.stringify(rule))) ?? []
  return !others.some(rule => ruleAllows(rule, statusOf(namespace)))
}

function statusFix({ roleRef }: Binding): string {
  return roleRef.name === 'cluster-admin'
    ? `Bind ClusterRole ${TENANT_ROLE} in a new RoleBinding, and remove this one; \`bailiwick onboard --role tenant\` writes that role.`
    : `List the resources of Flux by name in ${roleRef.kind} ${shown(roleRef.name)}, without \`*\` and without \`/status\`.`
}

/** The patch that leaves tenants all that Flux's role gives them but the status. */
function statusPatch({ cluster, index }: AuditedCluster): string {
  const rendered = index.versionsOf(cluster.name, `${RBAC_GROUP}/ClusterRole`, '', FLUX_EDIT.name).at(-1)?.object
  const file = rendered?.root.origin.file ?? `${cluster.path}/flux-system/gotk-components.yaml`
  const place =
    cluster.lockdown.flux?.from === 'flux-instance'
      ? 'spec.kustomize.patches of the FluxInstance'
      : `patches in ${shown(`${file.slice(0, file.lastIndexOf('/'))}/kustomization.yaml`)}`
  const value = [...WRITTEN_RESOURCES.values()].flat().sort()
  const patch = `[{"op": "replace", "path": "/rules/0/resources", "value": ${JSON.stringify(value).replaceAll(',', ', ')}}]`
  return `Add to ${place}: \`- {target: {kind: ClusterRole, name: ${FLUX_EDIT.name}}, patch: '${patch}'}\``
}

const roleText = ({ roleRef, namespace }: Binding) =>
  `${roleRef.kind} ${shown(roleRef.kind === 'Role' ? `${namespace}/${roleRef.name}` : roleRef.name)}`

function namespacesText(names: readonly string[]): string {
  const few = fewNames(names.map(shown))
  return names.length === 1 ? `namespace ${few}` : `${names.length} namespaces (${few})`
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
