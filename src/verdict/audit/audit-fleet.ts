import { andMore } from '../../base/name-list.ts'
import { excessRights } from '../../fleet/facts/cluster-rights.ts'
import { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { shown } from '../../fleet/facts/shown.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { kubeConfigOf } from '../../fleet/model/kustomization-spec.ts'
import { isEquippedByAddon } from '../../fleet/tenancy/capsule.ts'
import { TENANT_ROLE } from '../../fleet/tenancy/tenancy.ts'
import { WRITTEN_RESOURCES } from '../../flux/installed-rbac.ts'
import { KUSTOMIZATION, KUSTOMIZE_GROUP, ROOT_NAMESPACE, SOURCE_GROUP } from '../../kube/flux-kinds.ts'
import { at, itemsOf, originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { type Binding, displayRbac, RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { accountOf, ruleAllows, userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { capsuleObjects, capsuleSettings, isCapsuleUser, TENANT } from '../../rules/capsule/capsule-users.ts'
import { subjectText } from '../../rules/rbac/binding-subjects.ts'
import {
  type AuditedCluster,
  type AuditItem,
  type AuditState,
  type ClusterAudit,
  fewNames,
  isPlatforms,
  place,
  unseenPart,
} from './audit-item.ts'
import { fluxItems, policyItems, remoteBaseItems, sourceItems } from './flux-items.ts'

/** Audits the settings that isolate tenants (all, or these) on each of these clusters, as far as the fleet is visible. Pure. */
export function auditFleet(fleet: Fleet, names: readonly string[], tenants?: ReadonlySet<string>): ClusterAudit[] {
  const index = new FleetIndex(fleet)
  const asked = fleet.clusters.filter(({ name, hub }) => names.includes(name) && hub === undefined)
  return asked.map(cluster => {
    const owned = [...(cluster.owners ?? [])].filter(([, tenant]) => !tenants || tenants.has(tenant))
    const audited = {
      cluster,
      index,
      nodes: fleet.nodes.filter(node => node.cluster === cluster.name),
      namespaces: owned.map(([namespace]) => namespace).sort(),
    }
    const items = [
      ...fluxItems(audited),
      ...accountItems(audited),
      ...statusItems(audited),
      ...capsuleItems(audited),
      ...policyItems(audited),
      ...remoteBaseItems(audited),
      ...sourceItems(audited),
    ]
    return { cluster: cluster.name, path: cluster.path, items }
  })
}

/**
 * Checks that the accounts `default` have no rights, in tenant namespaces and where Flux acts as them in its own. An account of
 * another name that Flux acts as by default is one that has the rights of its tenant (Capsule's reconciler).
 */
function* accountItems(audited: AuditedCluster): Iterable<AuditItem> {
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
function* statusItems(audited: AuditedCluster): Iterable<AuditItem> {
  const authorizer = audited.index.authorizer(audited.cluster.name)
  const unseen = unseenPart(audited, isPlatforms)
  const writers = audited.namespaces.map(namespace => ({
    namespace,
    bindings: notIncluded(
      bindingsFor(audited, namespace).filter(({ subjects, roleRef, namespace: place }) => {
        const rules = subjects.length > 0 ? (authorizer.rulesOf(roleRef, place) ?? []) : []
        return rules.some(rule => ruleAllows(rule, statusOf(namespace)))
      }),
    ),
  }))
  const bound = writers.flatMap(({ namespace, bindings }) => bindings.map(binding => ({ namespace, binding })))
  for (const alike of Map.groupBy(bound, ({ binding }) => roleText(binding)).values()) yield writerItem(audited, alike)
  const safe = writers.filter(({ bindings }) => bindings.length === 0).map(({ namespace }) => namespace)
  if (safe.length === 0) return
  const statement = `only Flux can write the status of sources in ${namespacesText(safe)}`
  const message = unseen ? `${statement}, but ${unseen}` : statement
  yield { ...statusCheck(safe), state: unseen ? 'unknown' : 'ok', message, fix: '' }
}

/** Without those whose subjects all hold cluster-admin there: Capsule binds owners to `admin` besides. */
function notIncluded(bindings: readonly Binding[]): Binding[] {
  const isAll = ({ roleRef }: Binding) => roleRef.name === 'cluster-admin'
  const admins = new Set(bindings.filter(isAll).flatMap(({ subjects }) => subjects.map(subjectText)))
  return bindings.filter(one => isAll(one) || !one.subjects.every(subject => admins.has(subjectText(subject))))
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

/** An account that owns a Capsule Tenant. */
interface Owner {
  readonly index: FleetIndex
  readonly cluster: string
  readonly tenant: KubeObject
  readonly user: string
  readonly namespace: string
  readonly name: string
  /** capsule-addon-fluxcd makes its rights and its kubeconfig. */
  readonly hasAddon: boolean
}

/** What a step of Capsule's recipe for Flux gives an account. */
interface Step {
  readonly check: string
  /** After the names of accounts: what is true of them, and what is not. */
  readonly ok: string
  readonly not: string
  readonly why: string
  readonly fix: string
  readonly stateOf: (owner: Owner) => AuditState
}

const FLUX_OBJECT = { verb: 'patch', apiGroup: KUSTOMIZE_GROUP, resource: 'kustomizations', name: '' } as const

/** The steps of https://projectcapsule.dev (Multi-tenancy the GitOps way), in its order. */
const STEPS: readonly Step[] = [
  {
    check: 'capsule-account',
    ok: 'exists in the fleet, with its namespace',
    not: 'or its namespace is not rendered by the platform',
    why: 'a Tenant whose owner does not exist can be used by no Kustomization',
    fix: 'Add the Namespace and the ServiceAccount to the fleet.',
    stateOf: ({ index, cluster, namespace, name }) =>
      held(
        index.platformObject(cluster, '/Namespace', '', namespace) !== undefined &&
          index.platformObject(cluster, '/ServiceAccount', namespace, name) !== undefined,
      ),
  },
  {
    check: 'capsule-tenant-role',
    ok: 'has a role for custom resources in the namespaces of its Tenant',
    not: 'has no visible role for custom resources in the namespaces of its Tenant',
    why: 'Capsule binds admin, which has no rights on custom resources unless roles are aggregated to it',
    fix: 'Add the account to spec.additionalRoleBindings of its Tenant.',
    stateOf: owner => held(hasRoles(owner)),
  },
  {
    check: 'capsule-home-role',
    ok: 'may write Flux objects in its own namespace',
    not: 'has no visible role that lets it write Flux objects in its own namespace',
    why: 'Kustomizations and sources of the tenant stand there, and the namespace is not one of the Tenant',
    fix: 'Add a RoleBinding for the account in its namespace, or annotate the account for capsule-addon-fluxcd.',
    stateOf: ({ index, cluster, user, namespace, hasAddon }) =>
      held(hasAddon || index.authorizer(cluster).allows(userInfo(user), { ...FLUX_OBJECT, namespace })),
  },
  {
    check: 'capsule-user',
    ok: 'is a user of Capsule',
    not: 'is not a user of Capsule, or no CapsuleConfiguration is visible',
    why: "Capsule's webhooks accept every request of an account that its configuration does not name",
    fix: 'Add system:serviceaccounts:<namespace> to spec.userGroups of a CapsuleConfiguration in the fleet.',
    stateOf: ({ index, cluster, user }) =>
      capsuleSettings(index, cluster).length === 0 ? 'unknown' : held(isCapsuleUser(index, cluster, user)),
  },
  {
    check: 'capsule-impersonation',
    ok: "may impersonate itself, as Capsule's proxy asks for",
    not: 'has no visible role that lets it impersonate itself',
    why: "Flux sends both the token and the account's name, and Capsule's proxy refuses every request without this right",
    fix: 'Add a ClusterRole with the verb impersonate for users of this name, and bind the account to it.',
    stateOf: ({ index, cluster, user, hasAddon }) => {
      const request = { verb: 'impersonate', apiGroup: '', resource: 'users', name: user }
      return held(hasAddon || index.authorizer(cluster).allows(userInfo(user), request))
    },
  },
  {
    check: 'capsule-kubeconfig',
    ok: 'has a kubeconfig that capsule-addon-fluxcd or the fleet makes',
    not: 'has no visible kubeconfig: the worker or an admin makes its Secret',
    why: "Flux reaches Capsule's proxy by a Secret <account>-kubeconfig, which git cannot hold in the open",
    fix: "List Capsule's proxy with tokens in clusters.yaml of the worker, or run the commands that onboard prints.",
    stateOf: ({ index, cluster, namespace, name, hasAddon }) => {
      const isRendered = index.versionsOf(cluster, '/Secret', namespace, `${name}-kubeconfig`).length > 0
      return hasAddon || isRendered ? 'ok' : 'unknown'
    },
  },
  {
    check: 'capsule-sync',
    ok: "has a Kustomization that uses Capsule's proxy",
    not: "has no Kustomization of the platform that uses Capsule's proxy",
    why: 'without the proxy, Flux cannot list cluster-scoped objects as the tenant',
    fix: 'Add spec.kubeConfig with the Secret <account>-kubeconfig to the Kustomization of the tenant.',
    stateOf: ({ index, cluster, namespace }) =>
      held(
        index
          .platformRendered(cluster, KUSTOMIZATION, namespace)
          .some(({ object }) => kubeConfigOf(object) !== undefined),
      ),
  },
]

const held = (holds: boolean): AuditState => (holds ? 'ok' : 'weak')

/** Lists the steps of the recipe, each with the accounts that own Capsule Tenants and have it, and those that do not. */
function* capsuleItems({ cluster: { name: cluster }, index, namespaces }: AuditedCluster): Iterable<AuditItem> {
  const owners = capsuleObjects(index, cluster, TENANT).flatMap(({ object }) => ownersOf(object, index, cluster))
  const asked = owners.filter(({ namespace }) => namespaces.includes(namespace))
  for (const { check, ok, not, why, fix, stateOf } of asked.length === 0 ? [] : STEPS) {
    for (const [state, alike] of Map.groupBy(asked, stateOf)) {
      const [{ tenant, namespace, name }] = alike as [Owner]
      const names = fewNames(alike.map(one => shown(`${one.namespace}/${one.name}`)))
      yield {
        check,
        subject: alike.length === 1 ? `${namespace}/${name}` : '',
        state,
        message: `${alike.length === 1 ? 'account' : 'each of the accounts'} ${names} ${state === 'ok' ? ok : not}`,
        why,
        fix: state === 'ok' ? '' : fix,
        origin: place(originAt(tenant.root, ['spec', 'owners'])),
      }
    }
  }
}

function ownersOf(tenant: KubeObject, index: FleetIndex, cluster: string): Owner[] {
  return itemsOf(at(tenant.root, ['spec', 'owners'])).flatMap(owner => {
    const user = stringAt(owner, ['name']) ?? ''
    const account = accountOf(user)
    if (!account) return []
    const object = index.platformObject(cluster, '/ServiceAccount', account.namespace, account.name)
    const hasAddon = object !== undefined && isEquippedByAddon(object)
    return [{ index, cluster, tenant, user, ...account, hasAddon }]
  })
}

function hasRoles({ index, cluster, tenant, user }: Owner): boolean {
  const isAdded = itemsOf(at(tenant.root, ['spec', 'additionalRoleBindings'])).some(binding =>
    itemsOf(at(binding, ['subjects'])).some(one => {
      const name = stringAt(one, ['name']) ?? ''
      return name === user || userOfAccount(stringAt(one, ['namespace']) ?? '', name) === user
    }),
  )
  // the roles of Flux are aggregated to admin, which Capsule binds by default
  const namespaces = index.capsuleNamespacesOf(cluster, idOf(tenant).name)
  const may = (namespace: string) => index.authorizer(cluster).allows(userInfo(user), { ...FLUX_OBJECT, namespace })
  return isAdded || namespaces.some(may)
}
