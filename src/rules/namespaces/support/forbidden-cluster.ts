import { objectPart, quoted } from '../../../facts/shown.ts'
import { memberSettings } from '../../../fleet/config/member-settings.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { listed, message } from '../../../message/message.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'

/** A Kustomization of a tenant on a cluster where the fleet's own file does not let that tenant be; its children follow from it. */
export function* forbiddenCluster(node: FleetNode, { config, index }: RuleContext): Iterable<Violation> {
  const { tenant, cluster, namespace, name, kustomization, parent } = node
  const allowed = memberSettings(config, tenant)
    .map(one => one?.clusters)
    .find(clusters => clusters?.includes(cluster) === false)
  if (allowed === undefined) return
  const renderedBy = index.node(parent)
  if (renderedBy?.tenant === tenant) return
  const clusters = allowed.length === 0 ? message`none` : listed(allowed.map(one => quoted('object', one)))
  yield {
    node,
    ...(renderedBy ? { renderedBy } : {}),
    object: kustomization,
    path: ['metadata', 'name'],
    value: `cluster ${cluster}`,
    message: message`${objectPart('Kustomization', namespace, name)} acts for tenant ${quoted('tenant', tenant ?? '')} on cluster ${quoted('object', cluster)}. Allowed by .github/bailiwick.yaml: ${clusters}.`,
    fix: message`Remove the tenant from this cluster, or add the cluster to tenants[].clusters in .github/bailiwick.yaml in a separate change.`,
  }
}
