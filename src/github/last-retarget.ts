import { github } from './github-error.ts'
import type { Octokit, RepositoryName } from './octokit.ts'

/** That a pull request was led onto another base branch: by whom, undefined when the account is gone, and when. */
export interface Retarget {
  readonly by: string | undefined
  /** ISO time, in whole seconds. */
  readonly at: string
}

/** GitHub leads one elsewhere by itself when its base is deleted: https://docs.github.com/en/rest/using-the-rest-api/issue-event-types */
const EVENTS = ['base_ref_changed', 'automatic_base_change_succeeded']

/**
 * When a pull request was led elsewhere last; undefined: it aims where it was opened. Who agreed before has agreed to
 * something else: the same commit onto another branch is another change.
 */
export async function lastRetarget(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  pull: number,
): Promise<Retarget | undefined> {
  const events = await github(`read what happened to ${owner}/${repo}#${pull}`, () =>
    octokit.paginate(octokit.rest.issues.listEvents, { owner, repo, issue_number: pull, per_page: 100 }),
  )
  const last = events.findLast(({ event }) => EVENTS.includes(event))
  return last && { by: last.actor?.login, at: last.created_at }
}

/** Whether something was said after the last retarget. Times are whole seconds: what is equal may be earlier. */
export function isSince(at: string | undefined, retarget: Retarget | undefined): boolean {
  return retarget === undefined || (at !== undefined && Date.parse(at) > Date.parse(retarget.at))
}
