import { BailiwickError } from '../../errors.ts'
import type { SourceRef } from '../../fleet/model/source-ref.ts'
import { message, part } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { assertCommitId } from '../contents/read-commit.ts'

/** What a ref points at. */
export interface Head {
  readonly commit: string
  readonly tree: string
}

/** An annotated tag may point at another one; more than a few are nobody's tags. */
const MAX_TAG_DEPTH = 5

/**
 * The commit and tree of a ref, or undefined when the repository does not have it, is empty or is hidden from the App.
 * A name is never guessed: a branch is looked up among branches only, a commit by its full id only. Throws
 * `flux-unsupported` for `semver`, which needs every tag, and for a `name` outside `refs/heads/` and `refs/tags/`.
 */
export async function readHead(
  octokit: Octokit,
  repository: RepositoryName,
  ref: SourceRef,
): Promise<Head | undefined> {
  // source-controller's order: commit over name over semver over tag over branch
  if (ref.commit) return readCommitHead(octokit, repository, ref.commit)
  if (ref.name) return readNamed(octokit, repository, ref.name)
  if (ref.semver) throw unsupported(repository, 'semver', ref.semver)
  if (ref.tag) return readTag(octokit, repository, ref.tag)
  return readBranch(octokit, repository, ref.branch || 'master')
}

/** The head of a branch, or undefined when there is none. */
export async function readBranch(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
): Promise<Head | undefined> {
  const found = await unlessMissing(
    message`read branch ${part('branch', branch, JSON.stringify(branch))} of ${repositoryPart({ owner, repo })}`,
    () => octokit.rest.repos.getBranch({ owner, repo, branch }),
  )
  // GitHub leads on from the old name of a renamed branch; git, and so Flux, does not
  if (!found || found.data.name !== branch) return undefined
  return { commit: found.data.commit.sha, tree: found.data.commit.commit.tree.sha }
}

async function readNamed(octokit: Octokit, repository: RepositoryName, name: string): Promise<Head | undefined> {
  if (name.startsWith('refs/heads/')) return readBranch(octokit, repository, name.slice('refs/heads/'.length))
  if (name.startsWith('refs/tags/')) return readTag(octokit, repository, name.slice('refs/tags/'.length))
  throw unsupported(repository, 'name', name)
}

async function readTag(octokit: Octokit, repository: RepositoryName, tag: string): Promise<Head | undefined> {
  const { owner, repo } = repository
  const what = message`read tag ${part('branch', tag, JSON.stringify(tag))} of ${repositoryPart({ owner, repo })}`
  const found = await unlessMissing(what, () => octokit.rest.git.getRef({ owner, repo, ref: `tags/${tag}` }))
  if (!found || found.data.ref !== `refs/tags/${tag}`) return undefined
  let object: { readonly type: string; readonly sha: string } = found.data.object
  for (let depth = 0; object.type === 'tag' && depth < MAX_TAG_DEPTH; depth++) {
    const { sha } = object
    const inner = await unlessMissing(what, () => octokit.rest.git.getTag({ owner, repo, tag_sha: sha }))
    if (!inner) return undefined
    object = inner.data.object
  }
  return object.type === 'commit' ? readCommitHead(octokit, repository, object.sha) : undefined
}

async function readCommitHead(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  sha: string,
): Promise<Head | undefined> {
  assertCommitId(sha)
  const found = await unlessMissing(
    message`read commit ${part('value', sha.slice(0, 10))} of ${repositoryPart({ owner, repo })}`,
    () => octokit.rest.git.getCommit({ owner, repo, commit_sha: sha }),
  )
  return found?.data.sha === sha ? { commit: sha, tree: found.data.tree.sha } : undefined
}

function unsupported({ owner, repo }: RepositoryName, field: string, value: string): BailiwickError {
  const shown = JSON.stringify(value.slice(0, 100))
  return new BailiwickError(
    'flux-unsupported',
    `A source follows ${owner}/${repo} by ${field} ${shown}, which is not read yet`,
    {
      fix: 'Follow a branch, a tag, a commit, or a name below refs/heads/ or refs/tags/.',
    },
  )
}
