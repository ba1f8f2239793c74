import { hash } from 'node:crypto'
import { BailiwickError } from '../errors.ts'
import { ENGINE_VERSION } from '../fleet/engine-version.ts'
import type { CheckRun } from './check-run.ts'
import type { Outcome } from './outcome.ts'

const UNDECIDED = 'undecided'
const FORM = /^(\w+):(\w+)\.([\da-f]{24})\.([\da-f]{24})$/

/**
 * The external id of a check run: version of engine and rules, combination, hash of what is said, hash of the lines that
 * are annotated. Equal ids say the same; it stands on GitHub and is all that is remembered of a verdict.
 */
export function externalIdOf(outcome: Outcome, run: CheckRun): string {
  const { annotations, ...said } = run
  return `${ENGINE_VERSION}:${combinationOf(outcome)}.${digest(said)}.${digest(annotations)}`
}

/** The version of engine and rules that gave the verdict of a check run; undefined for an id that is not of this form. */
export function versionOfExternalId(externalId: string): string | undefined {
  return FORM.exec(externalId)?.[1]
}

/** Whether it says that nothing could be judged, for a reason that no event tells the end of. */
export function isUndecidedId(externalId: string): boolean {
  return FORM.exec(externalId)?.[2] === UNDECIDED
}

/** Whether both are ids of ours and annotate the same lines with the same words. */
export function annotatesTheSame(one: string, other: string): boolean {
  const [a, b] = [FORM.exec(one)?.[4], FORM.exec(other)?.[4]]
  return a !== undefined && a === b
}

function combinationOf(outcome: Outcome): string {
  if (outcome === undefined) return 'untouched'
  if (outcome instanceof BailiwickError) return outcome.code === 'merge-conflict' ? 'conflict' : UNDECIDED
  return /^\w+$/.test(outcome.combination) ? outcome.combination.slice(0, 24) : digest(outcome.combination)
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value)).slice(0, 24)
}
