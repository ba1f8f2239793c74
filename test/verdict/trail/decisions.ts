import { ENGINE_VERSION } from '../../../src/fleet/model/input.ts'
import type { TrailDecision } from '../../../src/verdict/trail-entry.ts'

/** A decision of the tests. */
export function decision(number: number, changes: Partial<TrailDecision> = {}): TrailDecision {
  const hex = number.toString(16)
  return {
    id: `verdict-${number}`,
    kind: 'verdict',
    at: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString(),
    who: 'bailiwick[bot]',
    repository: 'acme/fleet',
    commit: hex.padStart(40, '0'),
    pull: number,
    result: number % 3 === 0 ? 'fail' : 'pass',
    engine: ENGINE_VERSION,
    revisions: [{ repository: 'https://github.com/acme/fleet', commit: hex.padStart(40, '0') }],
    digest: hex.padStart(64, 'a'),
    ...changes,
  }
}
