import { BailiwickError } from '../../base/errors.ts'
import { message, part } from '../../base/message.ts'
import type { Visibility } from '../../fleet/model/source-access.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { unlessMissing } from '../client/github-error.ts'
import {
  type GitHubRepository,
  type Octokit,
  type OurRepository,
  type RepositoryName,
  repositoryPart,
} from '../client/octokit.ts'

/** What a name leads to now. */
export interface NamedRepository extends RepositoryName {
  /** Stays when it is renamed or moved. */
  readonly id: number
  /** Normalised. */
  readonly url: string
  readonly visibility: Visibility
}

/** The repository to which a name leads: GitHub leads on from names that it had before. Undefined where the App may not read it. */
export async function readRepository({ octokit, owner, repo }: GitHubRepository): Promise<NamedRepository | undefined> {
  const found = await unlessMissing(octokit.rest.repos.get({ owner, repo }))
  if (!found) return undefined
  const { id, owner: account, name, html_url: url } = found.data
  return { id, owner: account.login, repo: name, url: normaliseUrl(url), visibility: visibilityOf(found.data) }
}

/** A repository that an installation reaches. `id` stays when it is renamed or moved; the names do not. */
export interface Repository extends RepositoryName {
  readonly id: number
  /** Normalised, as sources are compared. */
  readonly url: string
  readonly defaultBranch: string
  readonly archived: boolean
  /** ISO time; '' where GitHub has none. */
  readonly createdAt: string
  readonly visibility: Visibility
  /** When someone last pushed to it, to the second; null for never. */
  readonly pushedAt: string | null
}

/** All repositories that the installation of this client reaches. */
export async function listRepositories(octokit: Octokit): Promise<readonly Repository[]> {
  const found = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, { per_page: 100 })
  return found.map(answer => ({
    id: answer.id,
    owner: answer.owner.login,
    repo: answer.name,
    url: normaliseUrl(answer.html_url),
    defaultBranch: answer.default_branch,
    archived: answer.archived,
    createdAt: answer.created_at ?? '',
    visibility: visibilityOf(answer),
    pushedAt: answer.pushed_at,
  }))
}

/** Who can see a repository. Public is only what GitHub says is: `private` counts where an older server gives no `visibility`. */
function visibilityOf(answer: {
  readonly private?: boolean | undefined
  readonly visibility?: string | undefined
}): Visibility {
  if (answer.visibility === 'internal') return 'internal'
  return answer.private === false && (answer.visibility ?? 'public') === 'public' ? 'public' : 'private'
}

/** A file on the default branch or at a commit; undefined if absent. Throws `git-corrupt` if it is not a plain file. */
export async function readFile(
  { octokit, owner, repo }: GitHubRepository,
  path: string,
  ref?: string,
): Promise<Uint8Array | undefined> {
  const found = await unlessMissing(
    octokit.rest.repos.getContent({ owner, repo, path, ...(ref === undefined ? {} : { ref }) }),
  )
  if (!found) return undefined
  const { data } = found
  if (Array.isArray(data) || data.type !== 'file' || !('content' in data) || data.encoding !== 'base64') {
    throw new BailiwickError(
      'git-corrupt',
      message`${part('path', path)} of ${repositoryPart({ owner, repo })} is not a text file`,
      {
        fix: 'Commit it as a plain file.',
      },
    )
  }
  return new Uint8Array(Buffer.from(data.content, 'base64'))
}

/** Blob id of a file at a commit; undefined if it does not exist or is not a plain file. */
export async function readBlobId(
  { octokit, owner, repo }: GitHubRepository,
  path: string,
  commit: string,
): Promise<string | undefined> {
  const found = await unlessMissing(octokit.rest.repos.getContent({ owner, repo, path, ref: commit }))
  return found && !Array.isArray(found.data) && found.data.type === 'file' ? found.data.sha : undefined
}

/** Whether a commit of a repository, or else its default branch, has a directory at `path`; false for an empty repository. */
export async function isDirectory(
  { octokit, owner, repo }: GitHubRepository,
  path: string,
  commit?: string,
): Promise<boolean> {
  const answer = await unlessMissing(
    octokit.rest.repos.getContent({ owner, repo, path, ...(commit === undefined ? {} : { ref: commit }) }),
  )
  return Array.isArray(answer?.data)
}

/** Whether a commit has a path that matches. Of more than 100,000 paths GitHub lists the first ones. */
export async function hasPath({ octokit, owner, repo }: GitHubRepository, commit: string, paths: RegExp) {
  const found = await unlessMissing(octokit.rest.git.getTree({ owner, repo, tree_sha: commit, recursive: '1' }))
  return found?.data.tree.some(({ path }) => path !== undefined && paths.test(path)) ?? false
}

/** Slugs of other Apps with a check run of this name on a branch's head. Commit statuses need a permission that we do not ask for. */
export async function listNamesakes(
  { octokit, app, owner, repo }: OurRepository,
  check: { readonly branch: string; readonly name: string },
): Promise<string[]> {
  const ref = `heads/${check.branch}`
  const { data } = await octokit.rest.checks.listForRef({
    owner,
    repo,
    ref,
    check_name: check.name,
    filter: 'latest',
    per_page: 100,
  })
  const others = data.check_runs.filter(run => run.name === check.name && run.app?.id !== app.id)
  return [...new Set(others.map(run => run.app?.slug ?? 'unknown'))].sort()
}
