import { hash } from 'node:crypto'
import { BailiwickError } from '../errors.ts'
import { ENGINE_VERSION } from '../fleet/model/engine-version.ts'
import type { NamedCheck } from '../gate/check-names.ts'
import type { Outcome, ReportContext } from './outcome.ts'
import type { CheckRunText } from './verdict-text.ts'

const UNDECIDED = 'undecided'
const FORM =
  /^(?<version>\w+):(?<kind>branch|group|pull)-(?<combination>\w+)\.(?<said>[\da-f]{24})\.(?<lines>[\da-f]{24})(?:\.(?<bases>[\da-f]{24}))?$/
const KINDS = { branch: 'branch', 'merge-group': 'group', 'pull-request': 'pull' } as const

/**
 * The external id of a check run: version of engine and rules, what it is about, combination, hash of what is said, hash
 * of the lines that are annotated, hash of the bases at which it counts. Equal ids say the same; it stands on GitHub and is
 * all that is remembered of a verdict.
 */
export function externalIdOf(
  outcome: Outcome,
  run: CheckRunText,
  kind: ReportContext['kind'],
  check: Pick<NamedCheck, 'bases' | 'followed'> = NO_BASES,
): string {
  const { annotations, ...said } = run
  const about = `${KINDS[kind]}-${combinationOf(outcome)}`
  return `${ENGINE_VERSION}:${about}.${digest(said)}.${digest(annotations)}.${digest([check.bases, check.followed])}`
}

const NO_BASES = { bases: [], followed: [] }

/**
 * Whether a run on the head of a pull request was published for the bases of a check, as they are now. An older version
 * noted none: it knew one base, and where there are several its run is about one of them only.
 */
export function isForBases(externalId: string, { bases, followed }: Pick<NamedCheck, 'bases' | 'followed'>): boolean {
  const found = FORM.exec(externalId)?.groups
  if (found?.kind === KINDS.branch) return false
  return found?.bases === undefined
    ? found !== undefined && bases.length === 1
    : found.bases === digest([bases, followed])
}

/** Whether the run is about a commit as a branch has it, not about a pull request. */
export function isOfBranch(externalId: string): boolean {
  return FORM.exec(externalId)?.groups?.kind === KINDS.branch
}

/** The version of engine and rules that gave the verdict of a check run; undefined for an id that is not of this form. */
export function versionOfExternalId(externalId: string): string | undefined {
  return FORM.exec(externalId)?.groups?.version
}

/** Whether it says that nothing could be evaluated, for a reason that no event tells the end of. */
export function isUndecidedId(externalId: string): boolean {
  return FORM.exec(externalId)?.groups?.combination === UNDECIDED
}

/** Whether both are ids of ours and annotate the same lines with the same words. */
export function annotatesTheSame(one: string, other: string): boolean {
  const [a, b] = [FORM.exec(one)?.groups?.lines, FORM.exec(other)?.groups?.lines]
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
