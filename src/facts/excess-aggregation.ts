import type { KubeObject } from '../kube/object.ts'
import { readRole } from '../kube/rbac/read-role.ts'
import type { Rendered } from './object-table.ts'

/** Roles, selectors, requirements and values of the aggregationRules of one tenant on one cluster. */
export const MAX_ENTRIES = 100

/**
 * Of the ClusterRoles of a cluster, the aggregated ones that are too much of their tenant: working out what they take in is
 * quadratic in what a tenant writes. They count as roles that nobody renders, and are an evaluation error where they stand
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
