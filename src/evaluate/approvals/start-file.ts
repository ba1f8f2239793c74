import type { Cluster, Fleet } from '../../fleet/model/fleet.ts'

/** The file from which a cluster starts, or that of the first Kustomization that its hub applies to it; '' without any. */
export function startFile({ name, hub }: Cluster, { nodes }: Fleet): string {
  const first = nodes.find(node => node.cluster === name && (hub !== undefined || node.parent === undefined))
  return first?.kustomization.root.origin.file ?? ''
}
