import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** That a pull request was led onto another base branch, or opened again: by whom, undefined when the account is gone. */
export interface OpenedAnew {
  readonly by: string | undefined
  /** ISO time, in whole seconds. */
  readonly at: string
}

/** GitHub leads one elsewhere by itself when its base is deleted: https://docs.github.com/en/rest/using-the-rest-api/issue-event-types */
const EVENTS = ['base_ref_changed', 'automatic_base_change_succeeded', 'reopened']

/** For what knows by itself which branch it is about. */
export const REOPENED: readonly string[] = ['reopened']

/**
 * When a pull request became another question last, without a push; undefined: it is as it was opened. Who agreed before
 * agreed to something else: the same commit onto another branch is another change, and who closes one takes back what they
 * said for it. `counting`: names of the events.
 */
export async function openedAnew(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  pull: number,
  counting: readonly string[] = EVENTS,
): Promise<OpenedAnew | undefined> {
  const events = await github(message`read what happened to ${repositoryPart({ owner, repo }, pull)}`, () =>
    octokit.paginate(octokit.rest.issues.listEvents, { owner, repo, issue_number: pull, per_page: 100 }),
  )
  const last = events.findLast(({ event }) => counting.includes(event))
  return last && { by: last.actor?.login, at: last.created_at }
}

/** Whether something was said after that. Times are whole seconds: what is equal may be earlier. */
export function isSince(at: string | undefined, anew: OpenedAnew | undefined): boolean {
  return anew === undefined || (at !== undefined && Date.parse(at) > Date.parse(anew.at))
}
