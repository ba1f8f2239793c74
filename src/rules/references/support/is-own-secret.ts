import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'

/** Whether a tenant itself renders a Secret, or what a controller writes it for (src/kube/capabilities/embeddings.ts). */
export function isOwnSecret(
  index: FleetIndex,
  { cluster, tenant }: Pick<FleetNode, 'cluster' | 'tenant'>,
  namespace: string,
  name: string,
): boolean {
  return index.versionsOf(cluster, '/Secret', namespace, name).some(({ node }) => node.tenant === tenant)
}
