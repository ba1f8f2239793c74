import { message } from '../../message/message.ts'
import { cutText } from '../client/cut-text.ts'
import { github, unlessMissing } from '../client/github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { listOurIssues } from './our-issues.ts'

/** 65,536 is GitHub's limit; some of its front ends count differently. */
const MAX_BODY = 60_000

interface StickyIssue {
  /** First line of the body, an HTML comment, by which the issue is found again. */
  readonly marker: string
  readonly title: string
  /** Markdown that begins with the marker. */
  readonly body: string
  /**
   * `open`: a changed body reopens the issue. `closed`: a changed body closes it, and no new issue is created. Absent: people decide.
   */
  readonly state?: 'open' | 'closed'
}

interface UpsertedIssue {
  readonly number: number
  readonly open: boolean
  readonly written: boolean
}

/**
 * Creates or updates the App's one issue with this marker. Keeps its title, and keeps it closed if people closed it and `state`
 * is absent. Ignores issues of others with the marker. Undefined if the repository has issues disabled, or if no issue is
 * created.
 */
export async function upsertIssue(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  { marker, title, body: wanted, state }: StickyIssue,
): Promise<UpsertedIssue | undefined> {
  const body = cutText(wanted, MAX_BODY, '\n\n*Truncated.*')
  const present = await listOurIssues(octokit, app, { owner, repo })
  if (!present) return undefined
  const ours = present.find(one => one.body.startsWith(`${marker}\n`))
  const what = message`write an issue of ${repositoryPart({ owner, repo })}`
  if (!ours) {
    if (state === 'closed') return undefined
    const made = await unlessMissing(what, () => octokit.rest.issues.create({ owner, repo, title, body }))
    return made && { number: made.data.number, open: true, written: true }
  }
  const { number } = ours
  if (ours.body === body) return { number, open: ours.open, written: false }
  // one request for both, so that a crash cannot separate the text from its state
  const change = state === undefined ? { body } : { body, state }
  await github(what, () => octokit.rest.issues.update({ owner, repo, issue_number: number, ...change }))
  return { number, open: state === undefined ? ours.open : state === 'open', written: true }
}
