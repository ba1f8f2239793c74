import type { RepositoryName } from '../../src/github/client/octokit.ts'
import { listPushers } from '../../src/github/people/pushers.ts'
import { pullsOfMergeGroup } from '../../src/github/pulls/merge-group.ts'
import { type PullRequest, readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { Contributors } from '../fleets/source-reader.ts'

type Asked = Pick<OpenedRepository, 'octokit' | 'repository'>

/**
 * The contributors of a pull request: its author and everyone who pushed to its head. Read from GitHub on first use,
 * once.
 */
export function peopleOfPull(subject: Asked, pull: PullRequest): Contributors {
  return once(() => broughtBy(subject, pull))
}

/** The contributors of a merge group: those of each pull request in it, down to the base commit. */
export function peopleOfGroup(
  subject: Asked,
  branch: string,
  group: { readonly sha: string; readonly base: string },
): Contributors {
  const { octokit } = subject
  const name = nameOf(subject)
  return once(async () => {
    const numbers = await pullsOfMergeGroup(octokit, name, branch, group)
    if (!numbers || numbers.length === 0) return undefined
    const logins = new Set<string>()
    for (const number of numbers) {
      const pull = await readPullRequest(octokit, name, number)
      const people = pull && (await broughtBy(subject, pull))
      if (!people) return undefined
      for (const login of people) logins.add(login)
    }
    return [...logins]
  })
}

/** Undefined where one of them is not a person, or GitHub does not say who it was. */
async function broughtBy(subject: Asked, { author, head }: PullRequest): Promise<readonly string[] | undefined> {
  if (author?.type !== 'User' || head.repository === null) return undefined
  const [owner, repo] = head.fork ? head.repository.split('/') : [subject.repository.owner, subject.repository.name]
  if (!owner || !repo) return undefined
  const pushers = await listPushers(subject.octokit, { owner, repo }, head.ref, head.sha)
  return pushers && [...new Set([author.login, ...pushers])]
}

const nameOf = ({ repository }: Asked): RepositoryName => ({ owner: repository.owner, repo: repository.name })

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}
