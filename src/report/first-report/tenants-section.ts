import type { FleetSurvey } from '../../audit/survey-fleet.ts'
import { code } from '../../message/markdown.ts'
import type { Section } from '../text/fold.ts'
import { shownList, table } from './shown-list.ts'

const MAX_ROWS = 60

/** Clusters and tenants that the manifests show. */
export function tenantsSection({ clusters, tenants }: FleetSurvey): Section {
  const rows = tenants.map(({ name, clusters: on, namespaces, identities }) => [
    code(name, 80),
    shownList(on),
    shownList(namespaces),
    shownList(identities, 3),
  ])
  const found =
    rows.length > 0
      ? table(['tenant', 'clusters', 'namespaces', 'applied as'], rows, MAX_ROWS)
      : 'No tenants: no namespace carries `toolkit.fluxcd.io/tenant` and no Capsule Tenant owns one.'
  const text = `### Clusters and tenants\n\nClusters: ${shownList(
    clusters.map(({ name }) => name),
    30,
  )}\n\n${found}`
  return { text, label: 'table of tenants' }
}
