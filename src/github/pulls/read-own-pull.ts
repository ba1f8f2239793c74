import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** A pull request that our App opened. */
export interface OwnPull {
  readonly number: number
  readonly state: 'open' | 'closed' | 'merged'
  readonly body: string
  /** Its branch, and the last commit of it. */
  readonly branch: string
  readonly head: string
  /** Of a merged one: the commit that its merge made. */
  readonly mergeCommit?: string
  /** ISO time of the merge. */
  readonly mergedAt?: string
}

/** The pull request as it is now; undefined where there is none, or another account opened it. */
export async function readOwnPull(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  number: number,
): Promise<OwnPull | undefined> {
  const found = await unlessMissing(message`read pull request ${repositoryPart({ owner, repo }, number)}`, () =>
    octokit.rest.pulls.get({ owner, repo, pull_number: number }),
  )
  return found && isOurs(app, found.data) ? ownPull(found.data) : undefined
}

interface PullData {
  readonly number: number
  readonly state: string
  readonly merged: boolean
  readonly body: string | null
  readonly head: { readonly ref: string; readonly sha: string }
  readonly merge_commit_sha: string | null
  readonly merged_at: string | null
}

/** What GitHub says of a pull request of ours. */
export function ownPull({ number, state, merged, body, head, merge_commit_sha, merged_at }: PullData): OwnPull {
  return {
    number,
    state: merged ? 'merged' : state === 'open' ? 'open' : 'closed',
    ...{ body: body ?? '', branch: head.ref, head: head.sha },
    // of one that is open it is a trial
    ...(merged && merge_commit_sha !== null ? { mergeCommit: merge_commit_sha } : {}),
    ...(merged && merged_at !== null ? { mergedAt: merged_at } : {}),
  }
}
