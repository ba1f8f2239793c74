import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { readFile } from '../contents/read-file.ts'

/** So many changes of a file are looked at; of what is older nobody asks. */
const MAX_CHANGES = 10

/**
 * Logins of the people whose merged pull requests brought into a file what `holds` finds in it, by the last change that did;
 * empty where that is not known: a push, a bot, or too long ago.
 */
export async function introducedBy(
  octokit: Octokit,
  name: RepositoryName,
  { commit, file }: { readonly commit: string; readonly file: string },
  holds: (text: string) => boolean,
): Promise<readonly string[]> {
  const { owner, repo } = name
  const listed = await unlessMissing(message`list commits of ${repositoryPart(name)}`, () =>
    octokit.rest.repos.listCommits({ owner, repo, sha: commit, path: file, per_page: MAX_CHANGES }),
  )
  const holdsAt = async (ref: string | undefined) => {
    const bytes = ref === undefined ? undefined : await readFile(octokit, name, file, ref)
    return bytes !== undefined && holds(new TextDecoder().decode(bytes))
  }
  for (const { sha, parents } of listed?.data ?? []) {
    if (!(await holdsAt(sha))) return []
    // dates are text: only the parent tells that it was not there before
    if (!(await holdsAt(parents[0]?.sha))) return authorsOf(octokit, name, sha)
  }
  return []
}

/** Authors of every merged pull request that contains a commit; empty where one of them is not a person. */
async function authorsOf(octokit: Octokit, { owner, repo }: RepositoryName, sha: string): Promise<readonly string[]> {
  const found = await unlessMissing(
    message`find the pull request of a commit of ${repositoryPart({ owner, repo })}`,
    () => octokit.rest.repos.listPullRequestsAssociatedWithCommit({ owner, repo, commit_sha: sha, per_page: 100 }),
  )
  const merged = (found?.data ?? []).filter(one => one.merged_at !== null)
  const people = merged.flatMap(({ user }) => (user?.type === 'User' ? [user.login] : []))
  return people.length === merged.length ? [...new Set(people)] : []
}
