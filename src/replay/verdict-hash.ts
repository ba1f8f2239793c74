import { hash } from 'node:crypto'
import { BailiwickError } from '../errors.ts'
import type { Outcome } from '../gate/outcome.ts'

/** Fields with sentences: a release may word them better and decide the same. */
const PROSE = new Set(['message', 'fix', 'said', 'saidFix', 'summary', 'reason', 'because', 'clusterAnswer', 'policy'])

/**
 * SHA-256 of what a verdict says: result, findings with their fingerprints and places, errors, required approvals, what was
 * not read, and the revision set. Sentences are left out. Equal verdicts have equal hashes.
 */
export function verdictHash(outcome: Outcome): string {
  const said = outcome instanceof BailiwickError ? { error: outcome.code } : (outcome ?? null)
  return hash('sha256', JSON.stringify(withoutProse(said)))
}

function withoutProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProse)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([name, field]) => !PROSE.has(name) && field !== undefined)
  return fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, withoutProse(field)])
}
