import { BailiwickError } from '../../src/base/errors.ts'
import { listOurCheckRuns, type OurCheckRun } from '../../src/github/checks.ts'
import { listCommentsSince } from '../../src/github/comments.ts'
import { type LabelEvent, lastLabelEvent } from '../../src/github/issues.ts'
import { readRole } from '../../src/github/people.ts'
import {
  isSince,
  openedAnew,
  type PullRequest,
  pullOfMergeGroup,
  REOPENED,
  readPullRequest,
} from '../../src/github/pull-request.ts'
import type { ValidateMergeGroup } from '../../src/receive/queue.ts'
import { readCommandLine } from '../../src/surface/command/command-line.ts'
import { OVERRIDE_RUN, readOverrideRecord } from '../../src/surface/command/record.ts'
import { HOLD_LABEL, type HumanDecisions, NO_DECISIONS } from '../../src/verdict/decide.ts'
import type { Case } from '../fleets/worker-context.ts'
import { blocks, type CommitOutcome } from './commit-outcome.ts'
import { readApprovals } from './missing-approvals.ts'

/**
 * Reads what people decided about the present head of a pull request, as GitHub has it now. `runs`: our check runs of
 * that head.
 */
export async function readDecisions(
  subject: Case,
  pull: PullRequest,
  evaluated: CommitOutcome,
  runs: readonly OurCheckRun[],
): Promise<HumanDecisions> {
  const [hold, override, { missing, approvals }] = await Promise.all([
    readHold(subject, pull),
    readPause(subject, evaluated).then(async paused => paused ?? (await readOverride(subject, pull, runs))),
    readApprovals(subject, { pull, runs: async () => runs }, evaluated),
  ])
  return {
    ...(hold ? { hold } : {}),
    ...(override ? { override } : {}),
    ...(approvals.length > 0 ? { approvals } : {}),
    ...{ missing, worse: [] },
  }
}

interface GroupVerdict {
  /** Nothing else of the queue is in the group. */
  readonly alone: boolean
  /** Its verdict, which knows what it adds to the group before it. */
  readonly evaluated: CommitOutcome
}

/**
 * Reads what people decided about the pull request that a merge group adds: a hold set while it waited, required
 * approvals, and an override of its head. The override covers that pull request only, so it counts only if the group
 * contains nothing else.
 */
export async function readGroupDecisions(
  subject: Case,
  data: ValidateMergeGroup,
  { alone, evaluated }: GroupVerdict,
): Promise<HumanDecisions> {
  const number = await pullOfMergeGroup(subject, data.branch, data.sha)
  const pull = number === undefined ? undefined : await readPullRequest(subject, number)
  if (pull?.state !== 'open' || pull.base.ref !== data.branch) return NO_DECISIONS
  const runs = () => listOurCheckRuns(subject, pull.head.sha)
  const [hold, asked] = await Promise.all([readHold(subject, pull), readApprovals(subject, { pull, runs }, evaluated)])
  const { missing, approvals } = asked
  const given = approvals.length > 0 ? { approvals } : {}
  const present: HumanDecisions = { ...NO_DECISIONS, ...(hold ? { hold } : {}), ...given, missing }
  const decided: CommitOutcome = {
    ...evaluated,
    context: { ...evaluated.context, decisions: { ...NO_DECISIONS, missing } },
  }
  const paused = await readPause(subject, evaluated)
  if (paused) return { ...present, override: paused }
  if (!alone || !blocks(decided)) return present
  const override = await readOverride(subject, pull, await runs())
  return { ...present, ...(override ? { override } : {}) }
}

/** The pause that ends first, if every fleet that decides about a change is paused. */
async function readPause(
  { context, installation }: Case,
  { fleets }: CommitOutcome,
): Promise<HumanDecisions['override']> {
  const deciding = fleets ?? (await installation.designation()).fleets
  const pauses = await Promise.all(deciding.map(fleet => context.statements.pauseOf(fleet)))
  const all = pauses.filter(pause => pause !== undefined)
  if (all.length < pauses.length) return undefined
  return all.sort((a, b) => (a.until < b.until ? -1 : 1))[0]
}

/** A command may wait this long in the queue and still count as what added the label. */
const WAITS_MS = 15 * 60 * 1000
/** How soon events that could not be read are read again. */
const AGAIN_MS = 30_000
const MAY_WRITE: readonly string[] = ['write', 'maintain', 'admin']

/** Whether a pull request has the hold label. GitHub compares label names without case. */
export function isLabeledHold({ labels }: Pick<PullRequest, 'labels'>): boolean {
  return labels.some(label => label.toLowerCase() === HOLD_LABEL)
}

/**
 * Returns who holds a pull request; undefined if no one does. The label alone is enough for a hold. Without it the last
 * label event decides, because the role triage can remove labels but must not lift a hold; if GitHub does not show the
 * events, the hold stays.
 */
export async function readHold(subject: Case, pull: PullRequest): Promise<HumanDecisions['hold']> {
  const { context, repository, installation, owner, repo } = subject
  const isLabeled = isLabeledHold(pull)
  try {
    const last = await lastLabelEvent(subject, pull.number, HOLD_LABEL)
    if (isLabeled) return { by: await holderOf(subject, pull.number, last) }
    if (!last || (await lifts(subject, last))) return undefined
    return { by: `the label ${HOLD_LABEL}`, takenOffBy: last.login ?? 'an account that is gone' }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    context.log.warn(
      { err: error, pull: `${repository.url}#${pull.number}` },
      'history of the hold label could not be read',
    )
    if (isLabeled) return { by: `the label ${HOLD_LABEL}` }
    const data = { installation: installation.id, owner, repo, pull: pull.number }
    await context.queue.add('validate-pull-request', data, { delayMs: AGAIN_MS })
    return { by: 'Bailiwick, because GitHub does not show the history of the hold label' }
  }
}

/** Whether the person who removed the label may lift a hold, or our App did, which checked their role before. */
async function lifts(subject: Case, { on, login }: LabelEvent): Promise<boolean> {
  if (on) return true // the label is gone without its own event: it was deleted from the repository
  if (login === undefined) return false
  if (login === `${subject.app.slug}[bot]`) return true
  return MAY_WRITE.includes(await readRole(subject, login))
}

async function holderOf(subject: Case, pull: number, last: LabelEvent | undefined) {
  if (!last?.on || last.login === undefined) return `the label ${HOLD_LABEL}`
  if (!last.login.endsWith('[bot]')) return last.login
  return (await commander(subject, pull, last.at)) ?? last.login
}

/** Who had our App add it, only for display: their role was checked then. */
async function commander(subject: Case, pull: number, at: string) {
  const since = new Date(Date.parse(at) - WAITS_MS).toISOString()
  const comments = await listCommentsSince(subject, pull, since)
  const asked = comments.findLast(
    ({ author, body, createdAt }) =>
      author.type === 'User' && createdAt <= at && readCommandLine(body)?.verb === 'hold',
  )
  return asked?.author.login
}

/**
 * Returns the override of the present head for its base, if there is one. `runs`: our check runs of that head;
 * permission was checked when the run was written, and only our App can write one. Closing the pull request ends the
 * override.
 */
async function readOverride(
  subject: Case,
  pull: PullRequest,
  runs: readonly OurCheckRun[],
): Promise<HumanDecisions['override']> {
  const run = runs.find(({ name, headSha }) => name === OVERRIDE_RUN && headSha === pull.head.sha)
  if (run?.status !== 'completed' || run.conclusion !== 'success') return undefined
  const record = readOverrideRecord(run.text)
  if (record?.pull !== pull.number || record.base !== pull.base.ref) return undefined
  if (!isSince(record.at, await openedAnew(subject, pull.number, REOPENED))) return undefined
  const { by, reason, confirmedBy } = record
  return { by: confirmedBy === undefined ? by : `${by}, confirmed by ${confirmedBy}`, reason }
}
