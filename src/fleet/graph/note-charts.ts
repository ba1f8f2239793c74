import { BailiwickError } from '../../errors.ts'
import { chartSources } from './chart-sources.ts'
import type { Walk } from './walk.ts'

/** Notes at each node of a cluster where its charts come from; too many sources of a tenant are the error of its node. */
export function noteCharts(walk: Pick<Walk, keyof Parameters<typeof chartSources>[0] | 'drafts'>): void {
  const known = new Map<string, Set<string>>()
  for (const draft of walk.drafts.values()) {
    // the releases there take their charts from sources that are there
    if (draft.hub !== undefined) continue
    const ofTenant = known.get(draft.tenant ?? '') ?? new Set()
    known.set(draft.tenant ?? '', ofTenant)
    try {
      const charts = chartSources(walk, draft, ofTenant)
      if (charts.length > 0) draft.charts = charts
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      draft.error ??= error
    }
  }
}
