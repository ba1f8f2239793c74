import { cutText } from './cut-text.ts'
import { github } from './github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from './octokit.ts'

/** `neutral` and `skipped` satisfy a required check, so they are no words of ours. */
export type Conclusion = 'success' | 'failure' | 'action_required' | 'cancelled' | 'timed_out'

/** One line of the diff that something is said about; the shape that src/report gives. */
export interface Annotation {
  readonly path: string
  readonly line: number
  readonly level: 'notice' | 'warning' | 'failure'
  readonly title: string
  readonly message: string
}

export interface CheckRun {
  readonly headSha: string
  readonly name: string
  /** Hash of what is said: the same id and conclusion are not said twice. */
  readonly externalId: string
  readonly conclusion: Conclusion
  readonly title: string
  /** Markdown. */
  readonly summary: string
  readonly text?: string
  readonly annotations: readonly Annotation[]
  readonly detailsUrl?: string
  /** It says that nothing happened: a run of ours that succeeded on this commit says more, and stays. */
  readonly quiet?: boolean
}

export interface PublishedCheckRun {
  readonly id: number
  /** False: it said so already. */
  readonly written: boolean
}

/** GitHub's limits: OpenAPI text of checks/create. */
const PER_REQUEST = 50
const MAX_TITLE = 255
const MAX_TEXT = 65_535
const MAX_MESSAGE = 64 * 1024
/** Ours: each 50 are one request that counts against 500 content-creating ones per hour. */
const MAX_ANNOTATIONS = 250

/**
 * Says a verdict on a commit. Publishing the same twice writes once. A run with more than 50 annotations stays in progress,
 * and so blocks, until its last part is written: a crash leaves no half verdict, and the next attempt starts a new run.
 */
export async function publishCheckRun(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  run: CheckRun,
): Promise<PublishedCheckRun> {
  const present = await latestRun(octokit, app, { owner, repo }, run)
  const same = present?.status === 'completed' && present.conclusion === run.conclusion
  if (same && (present.external_id === run.externalId || run.quiet)) return { id: present.id, written: false }
  const batches = inBatches(run.annotations.slice(0, MAX_ANNOTATIONS).map(toAnnotation))
  const output = outputOf(run)
  const what = `write the check run of ${owner}/${repo}`
  const completed = { status: 'completed', conclusion: run.conclusion } as const
  const { data } = await github(what, () =>
    octokit.rest.checks.create({
      owner,
      repo,
      name: run.name,
      head_sha: run.headSha,
      external_id: run.externalId,
      ...(run.detailsUrl ? { details_url: run.detailsUrl } : {}),
      ...(batches.length > 1 ? { status: 'in_progress' } : completed),
      output: { ...output, annotations: batches[0] ?? [] },
    }),
  )
  for (const [index, annotations] of batches.entries()) {
    if (index === 0) continue
    const last = index === batches.length - 1
    // GitHub appends the annotations of an update to those that are there
    await github(what, () =>
      octokit.rest.checks.update({
        owner,
        repo,
        check_run_id: data.id,
        ...(last ? completed : {}),
        output: { ...output, annotations },
      }),
    )
  }
  return { id: data.id, written: true }
}

/** Our latest run of that name on the commit. Another app's run of the same name is not ours. */
async function latestRun(octokit: Octokit, app: AppIdentity, { owner, repo }: RepositoryName, run: CheckRun) {
  const found = await github(`read the check runs of ${owner}/${repo}`, () =>
    octokit.paginate(octokit.rest.checks.listForRef, {
      owner,
      repo,
      ref: run.headSha,
      check_name: run.name,
      app_id: app.id,
      filter: 'latest',
      per_page: 100,
    }),
  )
  return found
    .filter(one => one.app?.id === app.id && one.name === run.name && one.head_sha === run.headSha)
    .sort((a, b) => b.id - a.id)[0]
}

function outputOf(run: CheckRun) {
  const left = run.annotations.length - MAX_ANNOTATIONS
  const shown = left > 0 ? `\n\n*${left} more annotations are not shown beside the lines.*` : ''
  const cut = '\n\n*The rest is cut: GitHub shows no more here.*'
  return {
    title: cutText(run.title, MAX_TITLE, '…'),
    summary: cutText(run.summary, MAX_TEXT - Buffer.byteLength(shown), cut) + shown,
    ...(run.text ? { text: cutText(run.text, MAX_TEXT, cut) } : {}),
  }
}

function toAnnotation({ path, line, level, title, message }: Annotation) {
  return {
    path,
    start_line: line,
    end_line: line,
    annotation_level: level,
    title: cutText(title, MAX_TITLE, '…'),
    message: cutText(message, MAX_MESSAGE, '… (cut)'),
  }
}

function inBatches<T>(items: readonly T[]): T[][] {
  const batches: T[][] = []
  for (let start = 0; start < items.length; start += PER_REQUEST) batches.push(items.slice(start, start + PER_REQUEST))
  return batches
}
