import { visible } from '../../base/visible.ts'
import { capsuleNamespaces, ofKinds } from '../../fleet/facts/capsule.ts'
import { clusterRights } from '../../fleet/facts/cluster-rights.ts'
import { kindOf, type Rendered } from '../../fleet/facts/object-table.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { CAPSULE_GROUP } from '../../fleet/tenancy/capsule.ts'
import { groupOf, type ObjectId } from '../../kube/object.ts'
import type { Authorizer } from '../../kube/rbac/authorizer.ts'
import { type Binding, type BoundSubject, RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { uncovered } from '../../kube/rbac/confirm-write.ts'
import { type PolicyRule, type UserInfo, userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { reachOf } from '../../rules/rbac/binding-subjects.ts'
import type { Right, RightChange } from './changes.ts'

/** Maximum number of rights shown for one subject in one place. */
const MAX_RIGHTS = 40
const MAX_TEXT = 200

/** Whether an object takes part in who may do what. */
export function givesRights({ apiVersion }: ObjectId): boolean {
  const group = groupOf(apiVersion)
  return group === RBAC_GROUP || group === CAPSULE_GROUP
}

/**
 * Who may do more or less on a cluster than before, by the API server's own rules: all that a subject holds in a namespace
 * on one side that nothing it holds there on the other covers. `changed`: the objects of the cluster that differ and give
 * rights. Sorted by subject and namespace.
 */
export function rightChanges(base: Fleet, head: Fleet, cluster: string, changed: readonly ObjectId[]): RightChange[] {
  const [before, after] = [authorizer(base, cluster), authorizer(head, cluster)]
  const found: RightChange[] = []
  const missing = comparison()
  for (const { subject, namespace } of affected(before, after, changed)) {
    const user = userOf(subject)
    const [had, has] = [before.held(user, namespace), after.held(user, namespace)]
    // paths of the API server lie in no namespace
    const rules = (holding: typeof had) =>
      holding.grants.flatMap(({ rule }) => (namespace !== '' && rule.resources.length === 0 ? [] : [rule]))
    const [gains, loses] = [missing(rules(had), rules(has)), missing(rules(has), rules(had))]
    const known = new Set(had.unresolved.map(roleText))
    const unknown = [...new Set(has.unresolved.map(roleText))].filter(role => !known.has(role))
    if (gains.length + loses.length + unknown.length === 0) continue
    found.push({
      cluster,
      tenant: ownerOf([head, base], cluster, subject),
      subject: subjectText(subject),
      namespace: visible(namespace, MAX_TEXT),
      gains,
      loses,
      unknown: unknown.slice(0, MAX_RIGHTS),
    })
  }
  const order = (one: RightChange) => [one.tenant, one.subject, one.namespace].join('\0')
  return found.sort((a, b) => (order(a) < order(b) ? -1 : 1))
}

/** What the second rules allow that the first do not; one answer for the same rules, as a role may be bound in thousands of namespaces. */
function comparison() {
  const ids = new Map<PolicyRule, number>()
  const namesOf = (rules: readonly PolicyRule[]) => rules.map(rule => idIn(ids, rule)).join()
  const known = new Map<string, readonly Right[]>()
  return (held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly Right[] => {
    const key = `${namesOf(held)} ${namesOf(wanted)}`
    const rights = known.get(key) ?? uncovered(held, wanted).slice(0, MAX_RIGHTS).map(right)
    known.set(key, rights)
    return rights
  }
}

function idIn(ids: Map<PolicyRule, number>, rule: PolicyRule): number {
  const id = ids.get(rule) ?? ids.size
  ids.set(rule, id)
  return id
}

function authorizer(fleet: Fleet, cluster: string): Authorizer {
  const byKind = new Map<string, Rendered[]>()
  for (const node of fleet.nodes) {
    if (node.cluster !== cluster) continue
    for (const object of node.objects) {
      const kind = kindOf(object)
      const list = byKind.get(kind)
      if (list) list.push({ node, object })
      else byKind.set(kind, [{ node, object }])
    }
  }
  const found = fleet.clusters.find(one => one.name === cluster)
  const objects = ofKinds(kind => byKind.get(kind) ?? [])
  const ofCapsule = capsuleNamespaces(objects, namespace => found?.owners?.get(namespace))
  return clusterRights(objects, ofCapsule, found).every
}

interface Place {
  readonly subject: BoundSubject
  readonly namespace: string
}

/** Subjects of bindings that are other ones now, or whose role is. */
function affected(before: Authorizer, after: Authorizer, changed: readonly ObjectId[]): Place[] {
  const places = new Map<string, Place>()
  const roles = new Map<string, boolean>()
  const isOtherRole = ({ roleRef, namespace }: Binding) => {
    const key = JSON.stringify([roleRef, roleRef.kind === 'ClusterRole' ? '' : namespace])
    let other = roles.get(key)
    if (other === undefined) {
      const [was, now] = [before.rulesOf(roleRef, namespace), after.rulesOf(roleRef, namespace)]
      other = was !== now && JSON.stringify(was ?? null) !== JSON.stringify(now ?? null)
      roles.set(key, other)
    }
    return other
  }
  for (const namespace of reachOfChange(before, after, changed)) {
    const [old, young] = [before.bindings.inNamespace(namespace), after.bindings.inNamespace(namespace)]
    const [known, present] = [new Set(old), new Set(young)]
    const other = [...old.filter(one => !present.has(one) || isOtherRole(one)), ...young.filter(one => !known.has(one))]
    for (const subject of other.flatMap(one => one.subjects)) {
      places.set(JSON.stringify([subject.kind, subject.namespace, subject.name, namespace]), { subject, namespace })
    }
  }
  return [...places.values()]
}

/** The namespaces, '' for the cluster, in which a binding may be another one or stand for other rules. */
function reachOfChange(before: Authorizer, after: Authorizer, changed: readonly ObjectId[]): Iterable<string> {
  const isLocal = ({ kind }: ObjectId) => kind === 'Role' || kind === 'RoleBinding' || kind === 'ClusterRoleBinding'
  if (changed.every(isLocal))
    return new Set(changed.map(({ kind, namespace }) => (kind.startsWith('Cluster') ? '' : namespace)))
  return new Set([...before.bindings.namespaces(), ...after.bindings.namespaces()])
}

/** A group by itself, without what everybody has. */
function userOf({ kind, namespace, name }: BoundSubject): UserInfo {
  if (kind === 'Group') return { name: '', groups: [name] }
  return userInfo(kind === 'ServiceAccount' ? userOfAccount(namespace, name) : name)
}

/** The tenant to whose namespace a subject belongs. */
function ownerOf(fleets: readonly Fleet[], cluster: string, subject: BoundSubject): string {
  const reach = reachOf(subject)
  if (reach.of !== 'accounts') return ''
  for (const { clusters } of fleets) {
    const owner = clusters.find(one => one.name === cluster)?.owners?.get(reach.namespace)
    if (owner !== undefined) return owner
  }
  return ''
}

function subjectText({ kind, namespace, name }: BoundSubject): string {
  return visible(namespace ? `${kind} ${namespace}/${name}` : `${kind} ${name}`, MAX_TEXT)
}

const roleText = ({ roleRef }: Binding): string => visible(`${roleRef.kind} ${roleRef.name}`, MAX_TEXT)

function right({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): Right {
  const [group = '', resource = ''] = [apiGroups[0], resources[0]]
  const [url] = nonResourceURLs
  const named = group === '' ? resource : `${resource}.${group}`
  return {
    verbs: [...new Set(verbs)].slice(0, MAX_RIGHTS).map(verb => visible(verb, 40)),
    resource: visible(url === undefined ? named : url === '*' ? '/*' : url, MAX_TEXT),
    names: resourceNames.slice(0, MAX_RIGHTS).map(name => visible(name, MAX_TEXT)),
  }
}
