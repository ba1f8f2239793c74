import type { FleetNode, NotSeen } from '../model/fleet.ts'
import { needsOf } from './node-values.ts'
import type { ValueIndex } from './value-index.ts'

/** What the platform's nodes of a cluster substitute from and only the cluster has: one entry for each ConfigMap or Secret. */
export function undeclaredValues(cluster: string, nodes: readonly FleetNode[], values: ValueIndex): NotSeen[] {
  if (!values.allowsUndeclared) return []
  const isNeeded = new Map<string, boolean>()
  for (const { kustomization, tenant, source } of nodes) {
    if (tenant !== undefined || source.opaque !== undefined) continue
    for (const { id, optional } of needsOf(kustomization)) {
      if (!values.has(id)) isNeeded.set(id, isNeeded.get(id) === true || !optional)
    }
  }
  return [...isNeeded]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, needed]) => ({
      ...{ source: id, url: '', what: 'values' as const },
      reason: needed
        ? `only the cluster ${cluster} has it, so its values are unknown`
        : `it is optional, and neither rendered nor declared, so it is evaluated as absent on the cluster ${cluster}`,
    }))
}
