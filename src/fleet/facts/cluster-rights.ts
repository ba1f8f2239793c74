import { oncePer } from '../../base/once-per.ts'
import {
  installedRbac,
  isInstalledRbac,
  type Manifest,
  OPERATOR_BINDINGS,
  OPERATOR_ROLES,
} from '../../flux/installed-rbac.ts'
import { at, type MapNode } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import { type Authorizer, authorizerOf } from '../../kube/rbac/authorizer.ts'
import { type Binding, displayRbac, RBAC_GROUP, type RoleRef, readRole } from '../../kube/rbac/binding.ts'
import { confirmWrite, covers, type WriteRefusal } from '../../kube/rbac/confirm-write.ts'
import { accountOf, compactString, type PolicyRule, userInfo } from '../../kube/rbac/policy-rule.ts'
import type { Cluster } from '../model/fleet.ts'
import { nodeOf } from '../model/kustomization-spec.ts'
import { capsuleRbac, type OfKinds } from './capsule.ts'
import { releasesOf } from './charts.ts'
import type { Rendered } from './object-table.ts'

/** What someone holds by one binding where it should hold nothing. */
export interface ForeignRight {
  /** `ClusterRoleBinding x`, `RoleBinding ns/x`. */
  readonly binding: string
  /** It is a ClusterRoleBinding. */
  readonly clusterWide: boolean
  /** `ClusterRole cluster-admin`. */
  readonly role: string
  /** The rules that are too much, as text. */
  readonly rules: string
}

/**
 * What the roles and bindings of a cluster come to, with those that Capsule makes of the platform's Tenants and those that Flux
 * installs. `ofCapsule`: as capsuleNamespaces gives them.
 */
export function clusterRights(
  objects: OfKinds,
  ofCapsule: ReadonlyMap<string, string>,
  cluster: Pick<Cluster, 'hub' | 'lockdown'> | undefined,
): ClusterRights {
  const all = (...kinds: readonly string[]) => kinds.flatMap(kind => objects.rendered(`${RBAC_GROUP}/${kind}`))
  const excess = excessAggregation(all('ClusterRole'))
  const roles = all('Role', 'ClusterRole').filter(({ object }) => !excess.has(object))
  const flux = assumedRbac(cluster, objects.platform)
  const capsule = capsuleRbac(objects, ofCapsule)
  return new ClusterRights(roles, all('RoleBinding', 'ClusterRoleBinding'), capsule, flux)
}

/** Who may do what on one cluster, as far as its roles and bindings are rendered. */
export class ClusterRights {
  /** Of everything that is rendered. */
  readonly every: Authorizer
  /**
   * Without the bindings that tenants write: what a tenant held before it granted anything itself. By them alone its grants
   * are evaluated, or a binding would justify itself.
   */
  readonly given: Authorizer
  /** What Flux installs and the fleet does not render, of both. */
  readonly assumed: readonly KubeObject[]
  /** What Capsule and its addon make, as `display` writes it. */
  readonly capsule: ReadonlySet<string>
  readonly #objects: readonly KubeObject[]

  /** `capsule`: the bindings that Capsule makes of its Tenants; `flux`: what Flux installs. */
  constructor(
    roles: readonly Rendered[],
    bindings: readonly Rendered[],
    capsule: readonly KubeObject[],
    flux: readonly KubeObject[],
  ) {
    const objects = (all: readonly Rendered[]) => all.map(one => one.object)
    const made = [...capsule, ...flux]
    this.assumed = flux
    this.capsule = new Set(capsule.map(object => display(idOf(object))))
    this.#objects = [...objects(roles), ...objects(bindings), ...made]
    this.every = authorizerOf(this.#objects)
    const given = bindings.filter(({ node }) => node.tenant === undefined)
    this.given = authorizerOf([...objects(roles), ...objects(given), ...made])
  }

  /** The same without some roles and bindings, as `display` writes them. */
  without(names: ReadonlySet<string>): Authorizer {
    return authorizerOf(this.#objects.filter(object => !names.has(display(idOf(object)))))
  }

  /** The rules that a role stands for where a binding in `namespace` ('': a ClusterRoleBinding) names it. */
  rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.every.rulesOf(role, namespace)
  }

  /**
   * Why the API server would refuse a user's Role or RoleBinding. Undefined also for cluster-wide ones (other rule),
   * and where the user's rights are unknown: no rendered binding in its namespace, or one to an unrendered role.
   */
  grantRefusal(user: string, object: KubeObject, namespace: string): WriteRefusal | undefined {
    const who = userInfo(user)
    if (namespace === '' || this.given.bindings.of(who, namespace).length === 0) return undefined
    const { unresolved } = this.given.held(who, namespace)
    if (unresolved.length > 0) return undefined
    const refusal = confirmWrite(this.given, who, object)
    return refusal?.reason === 'escalation' ? refusal : undefined
  }

  /**
   * The first binding by which an account may do more than act in the namespaces of its tenant, those of all users and of
   * roles that are not rendered included; as text for a message.
   */
  reachOutside(user: string, holder: RightsHolder): string | undefined {
    const who = userInfo(user)
    const places = this.given.bindings.namespacesOf(who).filter(namespace => !holder.owns(namespace))
    for (const namespace of ['', ...places]) {
      for (const { binding } of this.given.bindings.of(who, namespace)) {
        const { kind, name, roleRef } = binding
        const rules = this.given.rulesOf(roleRef, binding.namespace)
        if (rules && excessRights(rules, this.#confined(binding, holder)).length === 0) continue
        const what = rules ? '' : ', a role that the fleet does not render'
        // the owner of the other namespace is not shown
        const where = namespace === '' ? `${kind} ${name}` : 'a RoleBinding of another namespace'
        return `${where} gives it ${roleRef.kind} ${roleRef.name}${what}`
      }
    }
    return undefined
  }

  /**
   * What an account holds outside the namespaces of its tenant. Bindings by another tenant do not count, or
   * any tenant could make others fail.
   */
  rightsOutside(user: string, holder: RightsHolder): ForeignRight[] {
    const who = userInfo(user)
    const own = accountOf(user)
    const places = this.given.bindings.namespacesOf(who).filter(namespace => !holder.owns(namespace))
    return ['', ...places].flatMap(namespace =>
      this.given.bindings.of(who, namespace).flatMap(({ binding, subject }) => {
        const everybody = subject.kind === 'Group' && subject.name !== `system:serviceaccounts:${own?.namespace}`
        const rules = this.given.rulesOf(binding.roleRef, binding.namespace)
        const excess = everybody || !rules ? [] : excessRights(rules, this.#confined(binding, holder))
        if (excess.length === 0) return []
        const { kind, name, roleRef } = binding
        const role = `${roleRef.kind} ${roleRef.name}`
        const shown = `${kind} ${namespace ? `${namespace}/` : ''}${name}`
        return [{ binding: shown, clusterWide: namespace === '', role, rules: rulesText(excess) }]
      }),
    )
  }

  /** Capsule's admission confines all subjects that Capsule binds, owners or not. */
  #confined(binding: Binding, holder: RightsHolder): RightsHolder {
    return this.capsule.has(displayRbac(binding)) ? { ...holder, ofCapsule: true } : holder
  }
}

/** Whose rights are looked at. */
export interface RightsHolder {
  /** Whether a namespace is one of the tenant's. */
  owns(namespace: string): boolean
  /** Whether Capsule confines what the tenant does with Namespaces. */
  readonly ofCapsule: boolean
}

/** What every account holds by default. */
const EVERYBODY = authorizerOf([])
  .held({ name: '', groups: ['system:serviceaccounts', 'system:authenticated'] }, '')
  .grants.map(grant => grant.rule)

/** What the API server publishes to all users as /openapi. */
const DEFINITIONS: PolicyRule = {
  apiGroups: ['apiextensions.k8s.io'],
  resources: ['customresourcedefinitions'],
  verbs: ['get', 'list', 'watch'],
  resourceNames: [],
  nonResourceURLs: [],
}

const NAMESPACE_VERBS = ['create', 'patch', 'get', 'list', 'watch']

/**
 * The rules that let a tenant out of its namespaces where they are held for the whole cluster or in a namespace of others.
 * Not among them: what all users may do; to read definitions; to be an account of its own (Capsule's impersonator); and, for
 * owners of a Capsule Tenant, to make and patch Namespaces, which Capsule's admission confines to their own.
 */
export function excessRights(rules: readonly PolicyRule[], holder: RightsHolder): PolicyRule[] {
  return rules.filter(rule => !isHarmless(rule, holder))
}

function isHarmless(rule: PolicyRule, { owns, ofCapsule }: RightsHolder): boolean {
  if (covers([...EVERYBODY, DEFINITIONS], [rule])) return true
  if (rule.nonResourceURLs.length > 0 || rule.apiGroups.some(group => group !== '')) return false
  const only = (values: readonly string[], allowed: readonly string[]) => values.every(one => allowed.includes(one))
  if (only(rule.verbs, ['impersonate']) && only(rule.resources, ['users'])) {
    const own = (user: string) => owns(accountOf(user)?.namespace ?? '')
    return rule.resourceNames.length > 0 && rule.resourceNames.every(own)
  }
  return ofCapsule && only(rule.resources, ['namespaces']) && only(rule.verbs, NAMESPACE_VERBS)
}

/** Rules for a message or the identity of a violation: in a fixed order, whatever the order in the role. */
export function rulesText(rules: readonly PolicyRule[]): string {
  return [...new Set(rules.map(compactString))].sort().join(', ')
}

/** Roles, selectors, requirements and values of the aggregationRules of one tenant on one cluster. */
export const MAX_ENTRIES = 100

/**
 * Of the ClusterRoles of a cluster, the aggregated ones that are too much of their tenant: working out what they take in is
 * quadratic in what a tenant writes. They count as unrendered roles, and are an evaluation error where they stand
 * (`rbac-aggregation`). The platform's are not limited. `roles`: in the order of the nodes.
 */
export function excessAggregation(roles: readonly Rendered[]): ReadonlySet<KubeObject> {
  const spent = new Map<string, number>()
  const excess = new Set<KubeObject>()
  for (const { node, object } of roles) {
    const selectors = node.tenant === undefined ? undefined : readRole(object)?.selectors
    if (node.tenant === undefined || !selectors) continue
    const requirements = selectors.flat()
    const values = requirements.reduce((sum, one) => sum + one.values.length, 0)
    const sum = (spent.get(node.tenant) ?? 0) + 1 + selectors.length + requirements.length + values
    spent.set(node.tenant, sum)
    if (sum > MAX_ENTRIES) excess.add(object)
  }
  return excess
}

const NOWHERE = { repository: '', file: '', line: 1, column: 1 }
/**
 * Flux's own roles and bindings on a cluster, as far as the fleet does not render them: what Flux installs, with the fleet's
 * patches. Where the Deployments of Flux are rendered with any of these, those are all. Where a FluxInstance is, the roles
 * and the binding of flux-operator count too. `platform`: the platform's objects.
 */
function assumedRbac(
  cluster: Pick<Cluster, 'hub' | 'lockdown'> | undefined,
  platform: OfKinds['platform'],
): readonly KubeObject[] {
  // the Flux of another cluster applies there
  if (!cluster || cluster.hub !== undefined) return []
  const { flux } = cluster.lockdown
  const rendered = ['ClusterRole', 'ClusterRoleBinding']
    .flatMap(kind => platform(`${RBAC_GROUP}/${kind}`))
    .map(({ object }) => object)
  const names = new Set(rendered.map(keyOf).filter(key => key !== undefined))
  if (flux?.from === 'deployments' && names.size > 0) return []
  const manifests = flux?.rbac ?? installedRbac(flux?.version)
  const own = flux?.from === 'flux-instance' ? operatorRbac(platform) : []
  const isRendered = (object: KubeObject) => rendered.some(one => idOf(one).name === idOf(object).name)
  return [
    ...objectsOf(manifests).filter(object => !names.has(keyOf(object)!)),
    ...own.filter(object => !isRendered(object)),
  ]
}

/** Where the fleet renders releases of its chart, these say whether they create the roles. */
function operatorRbac(platform: OfKinds['platform']): readonly KubeObject[] {
  const releases = releasesOf(platform, 'flux-operator')
  const isOff = ({ rendered }: (typeof releases)[number]) => {
    const value = at(rendered.object.root, ['spec', 'values', 'rbac', 'createAggregation'])
    return value?.type === 'scalar' && value.value === false
  }
  const hasRoles = releases.length === 0 || !releases.every(isOff)
  return [...objectsOf(OPERATOR_BINDINGS), ...(hasRoles ? objectsOf(OPERATOR_ROLES) : [])]
}

const objectsOf = oncePer((manifests: readonly Manifest[]): readonly KubeObject[] =>
  manifests.map(one => ({ root: nodeOf(one, NOWHERE) as MapNode, trail: [] })),
)

/** Describes what is assumed on a cluster; undefined: nothing. */
export function assumedText(objects: readonly KubeObject[]): string | undefined {
  const names = [...new Set(objects.map(object => idOf(object).name))].sort().join(', ')
  if (names === '') return undefined
  return `ClusterRoles and ClusterRoleBindings of Flux are not rendered; assumed as Flux installs them: ${names}`
}

function keyOf(object: KubeObject): string | undefined {
  const { kind, name } = idOf(object)
  return isInstalledRbac(kind, name) ? `${kind} ${name}` : undefined
}
