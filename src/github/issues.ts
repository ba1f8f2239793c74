import { statusOf, unlessMissing } from './client/github-error.ts'
import { cutText, type GitHubRepository, isOurs, type OurRepository } from './client/octokit.ts'

/** An issue as GitHub has it now. */
export interface Issue {
  readonly number: number
  readonly body: string
  readonly open: boolean
  readonly pullRequest: boolean
  readonly author: { readonly login: string; readonly type: string }
  readonly viaApp: boolean
  /** ISO times, in whole seconds. */
  readonly createdAt: string
  readonly updatedAt: string
}

/** Reads an issue; undefined when it or its author is gone. */
export async function readIssue(
  { octokit, owner, repo }: GitHubRepository,
  number: number,
): Promise<Issue | undefined> {
  const found = await unlessMissing(octokit.rest.issues.get({ owner, repo, issue_number: number }))
  if (!found?.data.user) return undefined
  const { data } = found
  return {
    number,
    body: data.body ?? '',
    open: data.state === 'open',
    pullRequest: data.pull_request != null,
    author: { login: found.data.user.login, type: found.data.user.type },
    viaApp: data.performed_via_github_app != null,
    createdAt: data.created_at,
    updatedAt: data.updated_at,
  }
}

/** An issue that our App wrote; anyone with the role triage may have changed its text. */
export interface OurIssue {
  readonly number: number
  readonly body: string
  readonly open: boolean
}

/** The issues that our App wrote in a repository, oldest first; undefined where the repository has no issues. */
export async function listOurIssues({
  octokit,
  app,
  owner,
  repo,
}: OurRepository): Promise<readonly OurIssue[] | undefined> {
  const present = await unlessMissing(
    octokit.paginate(octokit.rest.issues.listForRepo, {
      ...{ owner, repo, state: 'all', creator: `${app.slug}[bot]`, per_page: 100 },
    }),
  )
  return present
    ?.filter(one => !one.pull_request && isOurs(app, one))
    .map(one => ({ number: one.number, body: plainLines(one.body), open: one.state === 'open' }))
    .sort((a, b) => a.number - b.number)
}

/** One of them as it is now; undefined where it is gone, or another author's. */
export async function readOurIssue(
  { octokit, app, owner, repo }: OurRepository,
  number: number,
): Promise<OurIssue | undefined> {
  const found = await unlessMissing(octokit.rest.issues.get({ owner, repo, issue_number: number }))
  if (!found || found.data.pull_request || !isOurs(app, found.data)) return undefined
  return { number, body: plainLines(found.data.body), open: found.data.state === 'open' }
}

const plainLines = (body: string | null | undefined) => (body ?? '').replaceAll('\r\n', '\n')

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
  { octokit, app, owner, repo }: OurRepository,
  { marker, title, body: wanted, state }: StickyIssue,
): Promise<UpsertedIssue | undefined> {
  const body = cutText(wanted, MAX_BODY, '\n\n*Truncated.*')
  const present = await listOurIssues({ octokit, app, owner, repo })
  if (!present) return undefined
  const ours = present.find(one => one.body.startsWith(`${marker}\n`))
  if (!ours) {
    if (state === 'closed') return undefined
    const made = await unlessMissing(octokit.rest.issues.create({ owner, repo, title, body }))
    return made && { number: made.data.number, open: true, written: true }
  }
  const { number } = ours
  if (ours.body === body) return { number, open: ours.open, written: false }
  // one request for both, so that a crash cannot separate the text from its state
  const change = state === undefined ? { body } : { body, state }
  await octokit.rest.issues.update({ owner, repo, issue_number: number, ...change })
  return { number, open: state === undefined ? ours.open : state === 'open', written: true }
}

interface Label {
  readonly name: string
  /** Six hexadecimal digits. */
  readonly color: string
  readonly description: string
}

/** Puts a label on an issue or pull request; the repository gets it first where it has none of that name. */
export async function addLabel({ octokit, owner, repo }: GitHubRepository, issue: number, label: Label) {
  await createLabel({ octokit, owner, repo }, label)
  await octokit.rest.issues.addLabels({ owner, repo, issue_number: issue, labels: [label.name] })
}

/** Takes a label off; does nothing without it. */
export async function removeLabel({ octokit, owner, repo }: GitHubRepository, issue: number, name: string) {
  await unlessMissing(octokit.rest.issues.removeLabel({ owner, repo, issue_number: issue, name }))
}

/** That a label was put on or taken off: by whom, undefined when the account is gone. */
export interface LabelEvent {
  readonly on: boolean
  readonly login: string | undefined
  readonly at: string
}

/** The last event about a label, whichever way; undefined where there is none. `name` in lower case. */
export async function lastLabelEvent(
  { octokit, owner, repo }: GitHubRepository,
  issue: number,
  name: string,
): Promise<LabelEvent | undefined> {
  const events = await octokit.paginate(octokit.rest.issues.listEvents, {
    owner,
    repo,
    issue_number: issue,
    per_page: 100,
  })
  const last = events.findLast(
    one =>
      (one.event === 'labeled' || one.event === 'unlabeled') &&
      'label' in one &&
      one.label?.name?.toLowerCase() === name,
  )
  return last && { on: last.event === 'labeled', login: last.actor?.login, at: last.created_at }
}

async function createLabel({ octokit, owner, repo }: GitHubRepository, label: Label): Promise<void> {
  const there = await unlessMissing(octokit.rest.issues.getLabel({ owner, repo, name: label.name }))
  if (there) return
  try {
    await octokit.rest.issues.createLabel({ owner, repo, ...label })
  } catch (error) {
    // 422: someone else was quicker
    if (statusOf(error) !== 422) throw error
  }
}
