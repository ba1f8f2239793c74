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
   * `open`: opened again when its body changes. `closed`: closed when its body changes, and never made. Absent: people decide.
   */
  readonly state?: 'open' | 'closed'
}

interface UpsertedIssue {
  readonly number: number
  readonly open: boolean
  readonly written: boolean
}

/**
 * Makes the one issue of ours with this marker say `body`, open or closed: one that people closed stays closed, and its title
 * is theirs too. Someone else's issue with the marker is left alone. Undefined where the repository has no issues, or none is
 * made.
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
  // in one request: a crash leaves no text beside the state of another
  const change = state === undefined ? { body } : { body, state }
  await github(what, () => octokit.rest.issues.update({ owner, repo, issue_number: number, ...change }))
  return { number, open: state === undefined ? ours.open : state === 'open', written: true }
}
