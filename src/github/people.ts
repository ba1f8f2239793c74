import { BailiwickError } from '../base/errors.ts'
import { unlessMissing } from './client/github-error.ts'
import { type AppIdentity, type GitHubRepository, isOurs, type Octokit } from './client/octokit.ts'

/** From most to least. */
export type RepositoryRole = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none'

/**
 * What a person may do on a repository, asked of GitHub now; an event's `author_association` means something else. A
 * role that an organization defined counts as the base that it extends. `none` for unknown people.
 */
export async function readRole({ octokit, owner, repo }: GitHubRepository, login: string): Promise<RepositoryRole> {
  const found = await unlessMissing(octokit.rest.repos.getCollaboratorPermissionLevel({ owner, repo, username: login }))
  if (!found) return 'none'
  const { user, role_name: role } = found.data
  // logins move on to other people; the answer must be about the one we asked for
  if (user && user.login.toLowerCase() !== login.toLowerCase()) return 'none'
  if (isRole(role)) return role
  const can = user?.permissions
  if (can?.admin) return 'admin'
  if (can?.maintain) return 'maintain'
  if (can?.push) return 'write'
  if (can?.triage) return 'triage'
  return can?.pull ? 'read' : 'none'
}

function isRole(name: string): name is RepositoryRole {
  return ['admin', 'maintain', 'write', 'triage', 'read', 'none'].includes(name)
}

/** Who has approved which commit of a pull request, and has not withdrawn the approval since. */
interface Approval {
  readonly login: string
  readonly commit: string
  /** ISO time. */
  readonly at: string | undefined
}

/** The last word of each person who reviewed, where it is an approval; apps and comments do not count. */
export async function listApprovals({ octokit, owner, repo }: GitHubRepository, pull: number): Promise<Approval[]> {
  const found = await octokit.paginate(octokit.rest.pulls.listReviews, {
    owner,
    repo,
    pull_number: pull,
    per_page: 100,
  })
  const last = new Map<number, (typeof found)[number]>()
  // in the order of time; a comment takes no approval back: https://docs.github.com/en/rest/pulls/reviews
  for (const review of found) if (review.user && review.state !== 'COMMENTED') last.set(review.user.id, review)
  return [...last.values()].flatMap(({ user, state, commit_id: commit, submitted_at: at }) =>
    user?.type === 'User' && state === 'APPROVED' && commit ? [{ login: user.login, commit, at }] : [],
  )
}

/** The people who maintain or administer a repository now, through whatever gives them the role. */
export async function listMaintainers({ octokit, owner, repo }: GitHubRepository): Promise<string[]> {
  const found = await octokit.paginate(octokit.rest.repos.listCollaborators, { owner, repo, per_page: 100 })
  return found.flatMap(({ type, login, permissions }) =>
    type === 'User' && (permissions?.admin || permissions?.maintain) ? [login] : [],
  )
}

/** A team as GitHub's paths name it. */
export interface Team {
  readonly org: string
  readonly slug: string
}

/**
 * Whether a person is in one of these teams, or in one below it, now; false for a pending invitation and for a team
 * that does not exist. Needs `members: read`.
 */
export async function isInTeams(octokit: Octokit, teams: readonly Team[], login: string): Promise<boolean> {
  for (const { org, slug } of teams) {
    const found = await unlessMissing(
      octokit.rest.teams.getMembershipForUserInOrg({ org, team_slug: slug, username: login }),
    )
    if (found?.data.state === 'active') return true
  }
  return false
}

/**
 * Whether a person owns an account, asked of GitHub now: an owner of the organization, or the person whose account it
 * is. A pending invitation is not a membership. Needs `members: read`; throws where GitHub refuses to answer.
 */
export async function isAccountOwner(octokit: Octokit, account: string, login: string): Promise<boolean> {
  if (account.toLowerCase() === login.toLowerCase()) return true
  const found = await unlessMissing(octokit.rest.orgs.getMembershipForUser({ org: account, username: login }))
  if (found?.data.state !== 'active' || found.data.role !== 'admin') return false
  return found.data.user?.login.toLowerCase() === login.toLowerCase()
}

/**
 * Login of the person who moved a branch to a commit, by GitHub's own record: authors and committers of commits are
 * only text. Undefined where GitHub has no record.
 */
export async function readPusher(
  { octokit, owner, repo }: GitHubRepository,
  branch: string,
  commit: string,
): Promise<string | undefined> {
  const { data } = await octokit.rest.repos.listActivities({ owner, repo, ref: `refs/heads/${branch}`, per_page: 30 })
  const push = data.find(one => one.after === commit && one.ref === `refs/heads/${branch}`)
  return push?.actor?.type === 'User' ? push.actor.login : undefined
}

/** Moves of one branch that are looked at; older ones are ignored. */
const MOST_MOVES = 300

/**
 * Logins of everyone who moved a branch since it was made, by GitHub's own record: authors and committers of commits
 * are only text. Undefined where GitHub does not name them for every move: a gap, an account that is gone, an app, a
 * repository that the App may not read, or a branch that is elsewhere by now. `without`: our App, which is left out.
 */
export async function listPushers(
  { octokit, owner, repo }: GitHubRepository,
  branch: string,
  head: string,
  without?: AppIdentity,
): Promise<readonly string[] | undefined> {
  const ref = `refs/heads/${branch}`
  let read = 0
  try {
    const moves = await unlessMissing(
      octokit.paginate(
        octokit.rest.repos.listActivities,
        { owner, repo, ref, direction: 'desc', per_page: 100 },
        ({ data }, done) => {
          const moves = data.filter(one => one.ref === ref)
          read += moves.length
          if (read >= MOST_MOVES || moves.some(isCreation)) done()
          return moves
        },
      ),
    )
    return moves && pushersIn(moves, head, without)
  } catch (error) {
    // a fork that the App is not installed on
    if (error instanceof BailiwickError && error.code === 'not-permitted') return undefined
    throw error
  }
}

interface Move {
  readonly before: string
  readonly after: string
  readonly ref: string
  readonly activity_type: string
  readonly actor?: { readonly login: string; readonly type: string } | null
}

const isCreation = (move: Move): boolean => move.activity_type === 'branch_creation'

/** `moves`: the last one first. */
function pushersIn(moves: readonly Move[], head: string, without?: AppIdentity): string[] | undefined {
  const logins = new Set<string>()
  let at = head
  for (const move of moves) {
    if (move.after !== at || !move.actor) return undefined
    if (move.actor.type === 'User') logins.add(move.actor.login)
    else if (!without || !isOurs(without, { user: move.actor })) return undefined
    if (isCreation(move)) return [...logins]
    at = move.before
  }
  return undefined
}

/** GitHub lists no more commits of a pull request than this. */
const PER_PAGE = 100

interface ChangeOfPull {
  readonly number: number
  readonly head: string
}

/**
 * Logins of the people to whom GitHub ascribes the commits of a pull request that touch one of the paths; no bots. Names
 * that only the commits give are left out.
 */
export async function pathAuthors(
  { octokit, owner, repo }: GitHubRepository,
  { number, head }: ChangeOfPull,
  paths: readonly string[],
): Promise<readonly string[]> {
  const { data: own } = await octokit.rest.pulls.listCommits({ owner, repo, pull_number: number, per_page: PER_PAGE })
  const mine = new Set(own.map(({ sha }) => sha))
  const logins = new Set<string>()
  for (const path of paths) {
    const place = path === '' ? {} : { path }
    const found = await unlessMissing(
      octokit.rest.repos.listCommits({ owner, repo, sha: head, ...place, per_page: PER_PAGE }),
    )
    for (const { sha, author } of found?.data ?? []) {
      if (mine.has(sha) && author && 'login' in author && author.type === 'User') logins.add(author.login)
    }
  }
  return [...logins].sort()
}
