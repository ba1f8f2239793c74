import { selects } from '../label-selector.ts'
import type { Role } from './binding.ts'
import type { PolicyRule } from './policy-rule.ts'

/**
 * The rules of an aggregated ClusterRole once the controller has settled: those of every plain role that it selects, also
 * through other aggregated roles. What is written into its own `rules` is overwritten, and it never selects itself; a
 * circle of roles holds what leads into the circle (clusterroleaggregation of k8s.io/kubernetes). Each rule once, roles by name.
 */
export function aggregate(role: Role, all: readonly Role[]): PolicyRule[] {
  const seen = new Set([role.name])
  const plain: Role[] = []
  const open = [role]
  for (let next = open.pop(); next; next = open.pop()) {
    for (const other of all) {
      if (seen.has(other.name) || !next.selectors?.some(selector => selects(selector, other.labels))) continue
      seen.add(other.name)
      if (other.selectors) open.push(other)
      else plain.push(other)
    }
  }
  const rules = new Map<string, PolicyRule>()
  for (const { rules: own } of plain.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const rule of own) rules.set(JSON.stringify(rule), rule)
  }
  return [...rules.values()]
}
