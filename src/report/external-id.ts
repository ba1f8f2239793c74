import { hash } from 'node:crypto'
import { BailiwickError, type ErrorCode } from '../errors.ts'
import { ENGINE_VERSION } from '../fleet/model/engine-version.ts'
import { isShared, type NamedCheck } from '../gate/check-names.ts'
import type { Outcome, ReportContext } from './outcome.ts'
import type { CheckRunText } from './verdict-text.ts'

const UNDECIDED = 'undecided'
const FORM =
  /^(?<version>\w+):(?<kind>branch|group|pull)-(?<combination>\w+)\.(?<said>[\da-f]{24})\.(?<lines>[\da-f]{24})(?:\.(?<bases>[\da-f]{24}))?$/
const KINDS = { branch: 'branch', 'merge-group': 'group', 'pull-request': 'pull' } as const

/**
 * The external id of a check run: version of engine and rules, what it is about, combination, hash of what is said, hash
 * of the lines that are annotated, hash of the base that it is about. Equal ids say the same; it stands on GitHub and is
 * all that is remembered of a verdict.
 */
export function externalIdOf(
  outcome: Outcome,
  run: CheckRunText,
  kind: ReportContext['kind'],
  check: About = NO_BASES,
): string {
  const { annotations, ...text } = run
  const about = `${KINDS[kind]}-${outcomeKey(outcome)}`
  return `${ENGINE_VERSION}:${about}.${digest(text)}.${digest(annotations)}.${basesOf(check)}`
}

type About = Pick<NamedCheck, 'bases' | 'followed'>

const NO_BASES: About = { bases: [], followed: [] }

/** Where no fleet follows a base, every one has the same verdict: nothing is affected. */
const basesOf = (check: About) => digest([isShared(check) ? check.bases : check.followed, check.followed])

/** Whether a run on the head of a pull request, or of a merge group, was published for the base of a check as it is now. */
export function isForBases(externalId: string, check: About): boolean {
  const found = FORM.exec(externalId)?.groups
  return found?.kind !== KINDS.branch && found?.bases === basesOf(check)
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

/** Errors that need no further attempt before the event that ends them. */
const ENDS_WITH_AN_EVENT: { readonly [code in ErrorCode]?: string } = {
  'merge-conflict': 'conflict',
  'check-shared': 'shared',
}

function outcomeKey(outcome: Outcome): string {
  if (outcome === undefined) return 'untouched'
  if (outcome instanceof BailiwickError) return ENDS_WITH_AN_EVENT[outcome.code] ?? UNDECIDED
  return /^\w+$/.test(outcome.combination) ? outcome.combination.slice(0, 24) : digest(outcome.combination)
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value)).slice(0, 24)
}
