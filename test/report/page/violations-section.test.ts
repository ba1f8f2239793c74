import { expect, test } from 'vitest'
import type { FleetPage, ListedFinding } from '../../../src/report/page/fleet-page.ts'
import { NO_QUERY } from '../../../src/report/page/fleet-query.ts'
import { html, type Links } from '../../../src/report/page/html.ts'
import { violationsSection } from '../../../src/report/page/render-fleet-page.ts'

const FINDING: ListedFinding = {
  ...{ kind: 'violation', state: 'open', rule: 'namespace-confinement', severity: 'high', tenant: 'dev' },
  ...{ object: 'Deployment apps/web', objects: 1, message: 'Deployment web is outside.' },
  clusters: Array.from({ length: 8 }, (_, at) => `cluster-${at}`),
  origin: { repository: '', file: 'web.yaml', line: 1 },
}

function section(finding: ListedFinding, cluster: string): string {
  const page = { findings: [finding], left: {} } as unknown as FleetPage
  const links = { commits: new Map() } as unknown as Links
  return html`${violationsSection(page, { ...NO_QUERY, cluster }, links)}`.toString()
}

test('clusters that a row does not list are counted', () => {
  expect(section(FINDING, '')).toContain('cluster-5 <span class="dim small">and 2 more</span>')
  expect(section({ ...FINDING, moreClusters: 3 }, '')).toContain('and 5 more')
})

test('a filter finds every cluster, and keeps a finding whose clusters are not all stored', () => {
  expect(section(FINDING, 'cluster-7')).toContain('Deployment apps/web')
  expect(section(FINDING, 'cluster-9')).toContain('No finding matches')
  expect(section({ ...FINDING, moreClusters: 1 }, 'cluster-9')).toContain('Deployment apps/web')
})
