import type { FleetSurvey } from '../../audit/survey-fleet.ts'
import { code, prose } from '../../message/markdown.ts'
import type { Section } from '../text/fold.ts'
import { shortUrl } from '../text/place.ts'
import { table } from './shown-list.ts'

const MAX_ROWS = 60

/** What was read besides the fleet, and what could not be. */
export function sourcesSection({ seen, notSeen }: FleetSurvey): Section {
  const missing = new Map(notSeen.map(one => [JSON.stringify([one.url, one.reason]), one]))
  const rows = [
    ...[...missing.values()].map(({ url, source, reason }) => [
      code(url ? shortUrl(url) : source),
      '',
      `❔ ${prose(reason, 200)}`,
    ]),
    ...seen.map(({ url, ref }) => [code(shortUrl(url)), code(ref, 100), '✅ visible']),
  ]
  if (rows.length === 0) return { text: '', label: '' }
  const text = `### Sources\n\n${table(['repository', 'follows', ''], rows, MAX_ROWS)}`
  return { text, label: 'table of sources' }
}
