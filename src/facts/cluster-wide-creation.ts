import type { FleetNode } from '../fleet/model/fleet.ts'
import { isIncomplete } from '../fleet/model/is-complete.ts'
import { at, type Node } from '../kube/node.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import { RBAC_GROUP } from '../kube/rbac/binding.ts'
import { userInfo } from '../kube/rbac/groups-of.ts'
import type { PolicyRule } from '../kube/rbac/policy-rule.ts'
import type { Facts } from './facts.ts'
import type { FleetAnswers } from './fleet-answers.ts'
import { shown } from './shown.ts'

/**
 * Why the account of a node may create objects of an API group that belong to the whole cluster, as far as anybody can tell;
 * undefined: no ClusterRoleBinding lets it, so the API server refuses them. Of a kind that nobody declares the resource is not
 * known, so every resource of the group counts. What cannot be read counts as allowing it; charts of the platform do not: they
 * bind accounts of their own.
 */
export function clusterWideCreation(
  index: FleetAnswers,
  facts: Facts,
  node: FleetNode,
  group: string,
): string | undefined {
  if (!node.identity.impersonated) return "it would be applied by Flux's controller itself"
  const hole = facts.memo(`rbac holes ${node.cluster}`, () => holeOf(index, facts, node.cluster))
  if (hole !== undefined) return hole
  const authorizer = index.authorizer(node.cluster)
  for (const { binding } of authorizer.bindings.of(userInfo(node.identity.user), '')) {
    const { name, roleRef } = binding
    const why = reaches(authorizer, roleRef, group)
    if (why !== undefined) return `ClusterRoleBinding ${shown(name)} gives it ClusterRole ${shown(roleRef.name)}${why}`
  }
  return undefined
}

function reaches(
  authorizer: Authorizer,
  role: Parameters<Authorizer['rulesOf']>[0],
  group: string,
): string | undefined {
  const rules = authorizer.rulesOf(role, '')
  if (!rules) return ', which the fleet does not render'
  if (authorizer.isAggregated(role, '')) return ', which is aggregated from others'
  return rules.some(rule => creates(rule, group)) ? '' : undefined
}

/** An apply of an object that is not there asks for `create`; the name that a rule is limited to may be this one's. */
function creates({ verbs, apiGroups, resources }: PolicyRule, group: string): boolean {
  const has = (list: readonly string[], value: string) => list.includes('*') || list.includes(value)
  return has(verbs, 'create') && has(apiGroups, group) && resources.some(resource => !resource.includes('/'))
}

/** What may render roles or bindings of the whole cluster and could not be seen. */
function holeOf(index: FleetAnswers, facts: Facts, cluster: string): string | undefined {
  for (const node of facts.nodes()) {
    if (node.cluster !== cluster || (!node.error && !isIncomplete(node))) continue
    if (node.tenant === undefined || bindsClusterWide(index, node))
      return 'the fleet holds RBAC that could not be evaluated'
  }
  for (const kind of ['ClusterRole', 'ClusterRoleBinding'])
    for (const { object } of index.renderedAnywhere(cluster, `${RBAC_GROUP}/${kind}`))
      if (PARTS.some(part => hasUnknown(at(object.root, [part])))) return 'the fleet holds RBAC with unknown values'
  return undefined
}

const PARTS = ['aggregationRule', 'roleRef', 'rules', 'subjects']

/** What a confined account renders cannot bind anybody in the whole cluster. */
function bindsClusterWide(index: FleetAnswers, { cluster, identity }: FleetNode): boolean {
  if (!identity.impersonated) return true
  const authorizer = index.authorizer(cluster)
  return authorizer.bindings
    .of(userInfo(identity.user), '')
    .some(({ binding }) => reaches(authorizer, binding.roleRef, RBAC_GROUP) !== undefined)
}

function hasUnknown(node: Node | undefined): boolean {
  if (node?.type === 'scalar') return node.opaque !== undefined
  if (node?.type === 'list') return node.items.some(hasUnknown)
  return node?.type === 'map' && [...node.fields.values()].some(({ value }) => hasUnknown(value))
}
