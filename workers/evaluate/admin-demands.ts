import { APPROVAL_RUN, readApprovalRecord } from '../../src/command/approval-record.ts'
import { groupApprovals } from '../../src/evaluate/changed/group-approvals.ts'
import type { GivenApproval, MissingApproval } from '../../src/gate/circumstances.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import { listApprovals } from '../../src/github/people/approvals.ts'
import { readPusher } from '../../src/github/people/pusher.ts'
import { isSince, openedAnew } from '../../src/github/pulls/opened-anew.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { RequiredApproval } from '../../src/rules/model/finding.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import { isFleetAdmin } from './is-fleet-admin.ts'

/** More are counted, not listed: one sentence is enough to know what to do. */
const LISTED = 10

const ALONE = 'A fleet admin who opened it and is the only one writes `/bailiwick approve`. '

/** Approvals that a change needs: those that are missing, and those that were given. */
export interface AskedApprovals {
  readonly missing: readonly MissingApproval[]
  readonly approvals: readonly GivenApproval[]
}

/** A pull request, and our check runs on its head, listed when they are asked for. */
export interface AskedPull {
  readonly pull: PullRequest
  readonly runs: () => Promise<readonly OurCheckRun[]>
}

/** The approvals of fleet admins that a pull request needs for its present head. */
export async function adminApprovals(
  subject: OpenedRepository,
  asked: AskedPull,
  fleet: FleetPlace,
  required: readonly RequiredApproval[],
): Promise<AskedApprovals> {
  if (required.length === 0) return { missing: [], approvals: [] }
  const by = await agreedBy(subject, asked, fleet)
  // the author of a file that was not evaluated may not know that
  const covers = ({ because }: RequiredApproval) => by !== undefined && (by.isOwn !== true || because === undefined)
  const rules = new Set(required.filter(covers).map(({ rule }) => rule))
  const grouped = groupApprovals(required.filter(one => !covers(one)))
  const left = grouped.length - LISTED
  const missing = grouped.slice(0, LISTED).map((one, index) => missingApprovalOf(one, index === LISTED - 1 ? left : 0))
  return { missing, approvals: by ? [...rules].map(rule => ({ rule, by: by.login })) : [] }
}

/**
 * The fleet admin who agreed to exactly this head onto this branch: approved it in a review and is not its author, or by
 * a command, or is its author and pushed it; undefined where none did. Who leads it here from another branch, or opens it again, asks anew. Who wrote a commit is never asked: that is text.
 */
async function agreedBy(
  subject: OpenedRepository,
  { pull, runs }: AskedPull,
  fleet: FleetPlace,
): Promise<{ readonly login: string; readonly isOwn?: true } | undefined> {
  const { octokit, repository } = subject
  const name = { owner: repository.owner, repo: repository.name }
  const author = pull.author?.login.toLowerCase()
  const approvals = await listApprovals(octokit, name, pull.number)
  const present = approvals.filter(one => one.commit === pull.head.sha && one.login.toLowerCase() !== author)
  const mayBeOwn = pull.author?.type === 'User' && !pull.head.fork
  const run = (await runs()).find(one => one.name === APPROVAL_RUN && one.headSha === pull.head.sha)
  const record = run?.conclusion === 'success' ? readApprovalRecord(run.text) : undefined
  const recorded =
    record?.pull === pull.number && record.base === pull.base.ref ? [{ ...record, login: record.by }] : []
  if (present.length + recorded.length === 0 && !mayBeOwn) return undefined
  const anew = await openedAnew(octokit, name, pull.number)
  for (const { login, at } of [...present, ...recorded]) {
    if (isSince(at, anew) && (await isFleetAdmin(subject, fleet, login))) return { login }
  }
  if (!pull.author || !mayBeOwn || (anew && anew.by?.toLowerCase() !== author)) return undefined
  const pusher = await readPusher(octokit, name, pull.head.ref, pull.head.sha)
  const isOwn = pusher?.toLowerCase() === author && (await isFleetAdmin(subject, fleet, pull.author.login))
  return isOwn ? { login: pull.author.login, isOwn } : undefined
}

function missingApprovalOf({ rule, path, message, because, source }: RequiredApproval, left: number): MissingApproval {
  const more = left > 0 ? ` So do ${left} more.` : ''
  const forGood = source === undefined ? '' : ' `/bailiwick approve-source` by a fleet admin approves it for good.'
  return {
    rule,
    ...(path === '' ? {} : { path }),
    message: `${message}; no fleet admin has approved this head.${more}`,
    fix: `Have a fleet admin who did not open this pull request approve its current head in a review. ${because === undefined ? '' : ALONE}A push resets the approval.${forGood}`,
  }
}
