import { ended } from '../../src/base/message.ts'
import { readFleetFile } from '../../src/fleet/config/fleet-file.ts'
import { openSnapshot } from '../../src/git/tree.ts'
import type { OurCheckRun } from '../../src/github/checks.ts'
import type { GitHubRepository } from '../../src/github/client/octokit.ts'
import { isInTeams, listApprovals, listMaintainers, readPusher, readRole, type Team } from '../../src/github/people.ts'
import { isSince, openedAnew, type PullRequest } from '../../src/github/pull-request.ts'
import type { RequiredApproval } from '../../src/rules/model/finding.ts'
import { approvalOf as recordedApproval } from '../../src/surface/command/record.ts'
import type { GivenApproval, MissingApproval } from '../../src/verdict/decide.ts'
import { approvalOf, guardedChanges } from '../../src/verdict/required-approvals.ts'
import { groupApprovals } from '../../src/verdict/summary.ts'
import type { Case, FleetPlace, Installation } from '../fleets/worker-context.ts'
import type { CommitOutcome, FleetApprovals } from './commit-outcome.ts'

/**
 * Returns the approvals that a pull request still needs, and those that were given. Makes no request to GitHub if it changes no guarded file of a
 * fleet, asks for nothing else and is not from a fork. `evaluated` lists its changes.
 */
export async function readApprovals(
  subject: Case,
  asked: AskedPull,
  evaluated: CommitOutcome,
): Promise<AskedApprovals> {
  const { pull } = asked
  const changed = evaluated.context.changedPaths
  if (evaluated.outcome === undefined || changed === undefined) return { missing: [], approvals: [] }
  const fleets = (await subject.installation.designation()).fleets
  const own = fleets.find(
    ({ repository, branch }) => repository.url === subject.repository.url && branch === pull.base.ref,
  )
  const required: FleetApprovals[] = [
    ...(own ? [{ fleet: own, approvals: guardedChanges(changed).map(approvalOf) }] : []),
    ...(evaluated.required ?? []).map(({ fleet, approvals }) => ({
      fleet,
      approvals: approvals.map(one => forReaders(one, changed)),
    })),
  ]
  const byFleet = Map.groupBy(required, ({ fleet }) => `${fleet.repository.url} ${fleet.branch}`)
  const all = await Promise.all(
    [...byFleet.values()].map(ofFleet =>
      adminApprovals(
        subject,
        asked,
        ofFleet[0]!.fleet,
        ofFleet.flatMap(one => one.approvals),
      ),
    ),
  )
  const fork = pull.head.fork ? [await forkApproval(subject, pull, fleets)] : []
  const both = [...all, ...fork]
  return { missing: both.flatMap(one => one.missing), approvals: both.flatMap(one => one.approvals) }
}

/** Does not name a file of another repository to the readers of this one. */
function forReaders(approval: RequiredApproval, changed: ReadonlySet<string>): RequiredApproval {
  if (changed.has(approval.path)) return approval
  const message = approval.source
    ? 'it lets a tenant deploy from a source that no fleet admin has approved'
    : 'it makes Flux download a new remote file, which is not evaluated'
  return { ...approval, path: '', message }
}

/** More are counted, not listed: one sentence is enough to know what to do. */
const LISTED = 10

const ALONE = 'A fleet admin who opened it and is the only one writes `/bailiwick approve`. '

/** Approvals that a change needs: those that are missing, and those that were given. */
interface AskedApprovals {
  readonly missing: readonly MissingApproval[]
  readonly approvals: readonly GivenApproval[]
}

/** A pull request, and our check runs on its head, listed on first use. */
interface AskedPull {
  readonly pull: PullRequest
  readonly runs: () => Promise<readonly OurCheckRun[]>
}

/** The approvals of fleet admins that a pull request needs for its present head. */
async function adminApprovals(
  subject: Case,
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
 * The fleet admin who approved exactly this head onto this branch: in a review of another author's pull request, by a
 * command, or as the author who pushed it. Another base or a reopening needs a new one. Commit authors never count.
 */
async function agreedBy(
  subject: Case,
  { pull, runs }: AskedPull,
  fleet: FleetPlace,
): Promise<{ readonly login: string; readonly isOwn?: true } | undefined> {
  const author = pull.author?.login.toLowerCase()
  const present = await presentReviews(subject, pull)
  const mayBeOwn = pull.author?.type === 'User' && !pull.head.fork
  const record = recordedApproval(pull, await runs())
  const recorded = record ? [{ ...record, login: record.by }] : []
  if (present.length + recorded.length === 0 && !mayBeOwn) return undefined
  const anew = await openedAnew(subject, pull.number)
  for (const { login, at } of [...present, ...recorded]) {
    if (isSince(at, anew) && (await isFleetAdmin(subject.installation, fleet, login))) return { login }
  }
  if (!pull.author || !mayBeOwn || (anew && anew.by?.toLowerCase() !== author)) return undefined
  const pusher = await readPusher(subject, pull.head.ref, pull.head.sha)
  const isOwn = pusher?.toLowerCase() === author && (await isFleetAdmin(subject.installation, fleet, pull.author.login))
  return isOwn ? { login: pull.author.login, isOwn } : undefined
}

/** Reviews by others than the author that approve exactly this head. */
async function presentReviews(repository: GitHubRepository, pull: PullRequest) {
  const author = pull.author?.login.toLowerCase()
  const approvals = await listApprovals(repository, pull.number)
  return approvals.filter(one => one.commit === pull.head.sha && one.login.toLowerCase() !== author)
}

function missingApprovalOf({ rule, path, message, because, source }: RequiredApproval, left: number): MissingApproval {
  const more = left > 0 ? ` ${left} more ${left === 1 ? 'change needs' : 'changes need'} it too.` : ''
  const forGood = source === undefined ? '' : ' `/bailiwick approve-source` by a fleet admin approves it for good.'
  return {
    rule,
    ...(path === '' ? {} : { path }),
    message: `${ended(message)}${more}`,
    fix: `A fleet admin who did not open this pull request must approve this commit in a review. ${because === undefined ? '' : ALONE}A push resets the approval.${forGood}`,
  }
}

const RULE = 'gate-fork-untrusted'

/** The maintainer approval that a pull request from a fork needs, if an affected fleet sets `forks: approve`. */
async function forkApproval(subject: Case, pull: PullRequest, fleets: readonly FleetPlace[]): Promise<AskedApprovals> {
  const asks = await Promise.all(fleets.map(fleet => asksForApproval(subject, fleet)))
  if (!asks.includes(true)) return { missing: [], approvals: [] }
  const by = await approvedBy(subject, pull)
  if (by !== undefined) return { missing: [], approvals: [{ rule: RULE, by }] }
  const approval = {
    rule: RULE,
    message: 'The pull request comes from a fork.',
    fix: 'A maintainer of this repository must approve this commit in a review.',
  }
  return { missing: [approval], approvals: [] }
}

async function asksForApproval({ installation }: Case, { repository, branch }: FleetPlace): Promise<boolean> {
  const commit = await installation.head(repository, { branch })
  if (commit === undefined) return false
  const tree = openSnapshot(await installation.content(repository, commit))
  const { forks, error } = readFleetFile(tree, repository.url)
  return forks === 'approve' || error !== undefined
}

async function approvedBy(subject: Case, pull: PullRequest): Promise<string | undefined> {
  const present = await presentReviews(subject, pull)
  if (present.length === 0) return undefined
  const anew = await openedAnew(subject, pull.number)
  for (const { login, at } of present) {
    if (!isSince(at, anew)) continue
    const role = await readRole(subject, login)
    if (role === 'admin' || role === 'maintain') return login
  }
  return undefined
}

/**
 * Whether a person is a fleet admin now: role `maintain` or `admin` on the fleet repository, or listed in `approvers`
 * of its file on the branch that clusters follow. Claims of events and commits never count.
 */
export async function isFleetAdmin(installation: Installation, fleet: FleetPlace, login: string): Promise<boolean> {
  const { repository } = fleet
  const { octokit } = installation
  const role = await readRole({ ...repository, octokit }, login)
  if (role === 'admin' || role === 'maintain') return true
  const approvers = await approversOf(installation, fleet)
  if (approvers.includes(login.toLowerCase())) return true
  return isInTeams(octokit, teamsAmong(approvers, repository.owner), login)
}

/** Whether anyone else is a fleet admin. Members of a listed team are not read, so a team counts as others. */
export async function hasOtherAdmins(installation: Installation, fleet: FleetPlace, login: string): Promise<boolean> {
  const { octokit } = installation
  const all = [
    ...(await approversOf(installation, fleet)),
    ...(await listMaintainers({ ...fleet.repository, octokit })),
  ]
  return all.some(one => one.toLowerCase() !== login.toLowerCase())
}

/** Teams of the fleet's own organization only. */
function teamsAmong(approvers: readonly string[], owner: string): Team[] {
  return approvers.flatMap(approver => {
    const [org = '', slug] = approver.split('/')
    return slug !== undefined && org === owner.toLowerCase() ? [{ org, slug }] : []
  })
}

/** A file that cannot be read lists no approvers. */
async function approversOf(installation: Installation, fleet: FleetPlace): Promise<readonly string[]> {
  const commit = await installation.head(fleet.repository, { branch: fleet.branch })
  if (commit === undefined) return []
  const tree = openSnapshot(await installation.content(fleet.repository, commit))
  return readFleetFile(tree, fleet.repository.url).approvers
}
