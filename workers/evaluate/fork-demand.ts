import { readFleetFile } from '../../src/fleet/config/read-fleet-file.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import { listApprovals } from '../../src/github/people/approvals.ts'
import { readRole } from '../../src/github/people/permission.ts'
import { isSince, openedAnew } from '../../src/github/pulls/opened-anew.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import type { AskedApprovals } from './admin-demands.ts'

const RULE = 'gate-fork-untrusted'

/** The maintainer approval that a pull request from a fork needs, if an affected fleet sets `forks: approve`. */
export async function forkApproval(
  subject: OpenedRepository,
  pull: PullRequest,
  fleets: readonly FleetPlace[],
): Promise<AskedApprovals> {
  const asks = await Promise.all(fleets.map(fleet => asksForApproval(subject, fleet)))
  if (!asks.includes(true)) return { missing: [], approvals: [] }
  const by = await approvedBy(subject, pull)
  if (by !== undefined) return { missing: [], approvals: [{ rule: RULE, by }] }
  const approval = {
    rule: RULE,
    message: 'The pull request comes from a fork, and no maintainer of this repository has approved its current head.',
    fix: 'Have a maintainer of this repository approve the current head in a review.',
  }
  return { missing: [approval], approvals: [] }
}

async function asksForApproval(
  { installation }: OpenedRepository,
  { repository, branch }: FleetPlace,
): Promise<boolean> {
  const commit = await installation.head(repository, { branch })
  if (commit === undefined) return false
  const tree = openSnapshot(await installation.content(repository, commit))
  const { forks, error } = readFleetFile(tree, repository.url)
  return forks === 'approve' || error !== undefined
}

async function approvedBy({ octokit, repository }: OpenedRepository, pull: PullRequest): Promise<string | undefined> {
  const name = { owner: repository.owner, repo: repository.name }
  const author = pull.author?.login.toLowerCase()
  const approvals = await listApprovals(octokit, name, pull.number)
  const present = approvals.filter(one => one.commit === pull.head.sha && one.login.toLowerCase() !== author)
  if (present.length === 0) return undefined
  const anew = await openedAnew(octokit, name, pull.number)
  for (const { login, at } of present) {
    if (!isSince(at, anew)) continue
    const role = await readRole(octokit, name, login)
    if (role === 'admin' || role === 'maintain') return login
  }
  return undefined
}
