import type { FleetIndex } from '../facts/fleet-index.ts'
import { shown } from '../facts/shown.ts'
import type { Cluster, FleetNode } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'

/** The cluster that an audit inspects, with its nodes and index. */
export interface AuditedCluster {
  readonly cluster: Cluster
  /** All of the cluster. */
  readonly nodes: readonly FleetNode[]
  readonly index: FleetIndex
  /** Of tenants, sorted. */
  readonly namespaces: readonly string[]
}

/** Explains which Kustomization could hide objects from the audit because it failed or could not be read; undefined if there is none. */
export function unseenPart({ nodes }: AuditedCluster, which: (node: FleetNode) => boolean): string | undefined {
  const node = nodes.find(one => which(one) && (whyIncomplete(one) !== undefined || one.source.opaque !== undefined))
  if (!node) return undefined
  const error = whyIncomplete(node)
  const why = error ? `it cannot be rendered as a whole (${error.code})` : `its source is not visible`
  return `what Kustomization ${shown(`${node.namespace}/${node.name}`)} applies is unknown: ${why}`
}

export const isPlatforms = (node: FleetNode): boolean => node.tenant === undefined
