import type { Demand } from '../../src/gate/circumstances.ts'
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

/** The approvals of fleet admins that a pull request still needs for its present head. */
export async function adminDemands(
  subject: OpenedRepository,
  pull: PullRequest,
  fleet: FleetPlace,
  required: readonly RequiredApproval[],
): Promise<Demand[]> {
  if (required.length === 0 || (await isAgreed(subject, pull, fleet))) return []
  const left = required.length - LISTED
  return required.slice(0, LISTED).map((one, index) => demandOf(one, index === LISTED - 1 ? left : 0))
}

/**
 * Whether a fleet admin agreed to exactly this head onto this branch: approved it in a review and is not its author, or is
 * its author and pushed it. Who leads it here from another branch, or opens it again, asks anew. Who wrote a commit is never asked: that is text.
 */
async function isAgreed(subject: OpenedRepository, pull: PullRequest, fleet: FleetPlace): Promise<boolean> {
  const { octokit, repository } = subject
  const name = { owner: repository.owner, repo: repository.name }
  const author = pull.author?.login.toLowerCase()
  const approvals = await listApprovals(octokit, name, pull.number)
  const present = approvals.filter(one => one.commit === pull.head.sha && one.login.toLowerCase() !== author)
  const mayBeOwn = pull.author?.type === 'User' && !pull.head.fork
  if (present.length === 0 && !mayBeOwn) return false
  const anew = await openedAnew(octokit, name, pull.number)
  for (const { login, at } of present) {
    if (isSince(at, anew) && (await isFleetAdmin(subject, fleet, login))) return true
  }
  if (!pull.author || !mayBeOwn || (anew && anew.by?.toLowerCase() !== author)) return false
  const pusher = await readPusher(octokit, name, pull.head.ref, pull.head.sha)
  return pusher?.toLowerCase() === author && (await isFleetAdmin(subject, fleet, pull.author.login))
}

function demandOf({ rule, path, message }: RequiredApproval, left: number): Demand {
  const more = left > 0 ? ` So do ${left} more.` : ''
  return {
    rule,
    ...(path === '' ? {} : { path }),
    message: `${message}; no fleet admin has approved this head.${more}`,
    fix: 'Have a fleet admin who did not open this pull request approve its current head in a review. A push resets the approval.',
  }
}
