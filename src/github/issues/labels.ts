import { message } from '../../message/message.ts'
import { github, statusOf, unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

interface Label {
  readonly name: string
  /** Six hexadecimal digits. */
  readonly color: string
  readonly description: string
}

/** Puts a label on an issue or pull request; the repository gets it first where it has none of that name. */
export async function addLabel(octokit: Octokit, { owner, repo }: RepositoryName, issue: number, label: Label) {
  await createLabel(octokit, { owner, repo }, label)
  await github(message`label ${repositoryPart({ owner, repo }, issue)}`, () =>
    octokit.rest.issues.addLabels({ owner, repo, issue_number: issue, labels: [label.name] }),
  )
}

/** Takes a label off; one that is not there is as good. */
export async function removeLabel(octokit: Octokit, { owner, repo }: RepositoryName, issue: number, name: string) {
  await unlessMissing(message`take a label off ${repositoryPart({ owner, repo }, issue)}`, () =>
    octokit.rest.issues.removeLabel({ owner, repo, issue_number: issue, name }),
  )
}

/** That a label was put on or taken off: by whom, undefined when the account is gone. */
export interface LabelEvent {
  readonly on: boolean
  readonly login: string | undefined
  readonly at: string
}

/** The last event about a label, whichever way; undefined where there is none. `name` in lower case. */
export async function lastLabelEvent(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  issue: number,
  name: string,
): Promise<LabelEvent | undefined> {
  const events = await github(message`read what happened to ${repositoryPart({ owner, repo }, issue)}`, () =>
    octokit.paginate(octokit.rest.issues.listEvents, { owner, repo, issue_number: issue, per_page: 100 }),
  )
  const last = events.findLast(
    one =>
      (one.event === 'labeled' || one.event === 'unlabeled') &&
      'label' in one &&
      one.label?.name?.toLowerCase() === name,
  )
  return last && { on: last.event === 'labeled', login: last.actor?.login, at: last.created_at }
}

async function createLabel(octokit: Octokit, { owner, repo }: RepositoryName, label: Label): Promise<void> {
  const what = message`create a label of ${repositoryPart({ owner, repo })}`
  const there = await unlessMissing(what, () => octokit.rest.issues.getLabel({ owner, repo, name: label.name }))
  if (there) return
  await github(what, async () => {
    try {
      await octokit.rest.issues.createLabel({ owner, repo, ...label })
    } catch (error) {
      // 422: someone else was quicker
      if (statusOf(error) !== 422) throw error
    }
  })
}
