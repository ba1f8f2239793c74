import type { TrailDecision } from '../trail/trail-entry.ts'

/** Decisions of one fleet that wait with all that they were made from: later ones wait without, so that a store stays small. */
export const MAX_WITH_INPUTS = 500

/** A longer text would not be a line of the trail either. */
const MAX_TEXT = 1024 * 1024

/** A decision as text, without its inputs where it is too long with them, and the same without its inputs in any case. */
export function decisionTexts(decision: TrailDecision): { readonly full: string; readonly lean: string } {
  const full = JSON.stringify(decision)
  if (decision.inputs === undefined) return { full, lean: full }
  const { inputs: _inputs, ...rest } = decision
  const lean = JSON.stringify({ ...rest, inputsOmitted: true })
  return { full: Buffer.byteLength(full) > MAX_TEXT ? lean : full, lean }
}
