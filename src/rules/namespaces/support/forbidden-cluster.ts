import { shown, shownObject } from '../../../facts/shown.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import type { Breach, RuleContext } from '../../model/rule.ts'

/** A Kustomization of a tenant on a cluster where the fleet's own file does not let that tenant be; its children follow from it. */
export function* forbiddenCluster(node: FleetNode, { config, index }: RuleContext): Iterable<Breach> {
  const { tenant, cluster, namespace, name, kustomization, parent } = node
  const allowed = tenant === undefined ? undefined : config.tenants.get(tenant)?.clusters
  if (allowed === undefined || allowed.includes(cluster)) return
  const renderedBy = index.node(parent)
  if (renderedBy?.tenant === tenant) return
  const clusters = allowed.map(shown).join(', ') || 'none'
  yield {
    node,
    ...(renderedBy ? { renderedBy } : {}),
    object: kustomization,
    path: ['metadata', 'name'],
    value: `cluster ${cluster}`,
    message: `${shownObject('Kustomization', namespace, name)} acts for tenant ${shown(tenant ?? '')} on cluster ${shown(cluster)}. Allowed by .github/bailiwick.yaml: ${clusters}.`,
    fix: `Remove the tenant from this cluster, or add the cluster to tenants[].clusters in .github/bailiwick.yaml in a separate change.`,
  }
}
