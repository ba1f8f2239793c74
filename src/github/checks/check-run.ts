import { message } from '../../message/message.ts'
import type { Annotation } from '../../report/annotations.ts'
import { withAnchor } from '../../trail/anchor-text.ts'
import type { TrailAnchor } from '../../trail/trail-entry.ts'
import { cutText } from '../client/cut-text.ts'
import { github } from '../client/github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { listOurCheckRuns, type OurCheckRun } from './list-check-runs.ts'

/** `neutral` and `skipped` satisfy a required check, so they are no words of ours. */
type Conclusion = 'success' | 'failure' | 'action_required' | 'cancelled' | 'timed_out'

/** A button; GitHub takes three, with 20, 40 and 20 characters. */
interface Action {
  readonly label: string
  readonly description: string
  readonly identifier: string
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
  readonly actions?: readonly Action[]
  readonly detailsUrl?: string
  /** It says that nothing happened: a run of ours that succeeded on this commit says more, and stays. */
  readonly quiet?: boolean
  /** Someone asked for it once more: a new run is written even where the same is said. */
  readonly again?: boolean
  /** Called before the first write, and never where the same stands there; its answer is noted in the external id. */
  readonly beforeWrite?: () => Promise<TrailAnchor | undefined>
  /** Whether the run that is there, with this id, annotates the same lines: then its text may be brought up to date in place. */
  readonly sameLines?: (externalId: string) => boolean
}

interface PublishedCheckRun {
  readonly id: number
  /** False: it said so already. */
  readonly written: boolean
}

/** GitHub's limits: OpenAPI text of checks/create. */
const PER_REQUEST = 50
const MAX_TITLE = 255
const MAX_TEXT = 65_535
const MAX_MESSAGE = 64 * 1024
const MAX_ACTIONS = 3
/** Ours: each 50 are one request that counts against 500 content-creating ones per hour. */
const MAX_ANNOTATIONS = 250

/**
 * Says a verdict on a commit. Publishing the same twice writes once. A run with more than 50 annotations stays in progress,
 * and so blocks, until its last part is written: a crash leaves no half verdict, and the next attempt starts a new run.
 * `present`: our runs of the commit, where the caller has listed them.
 */
export async function publishCheckRun(
  octokit: Octokit,
  app: AppIdentity,
  repository: RepositoryName,
  wanted: CheckRun,
  present?: readonly OurCheckRun[],
): Promise<PublishedCheckRun> {
  const ours = present ?? (await listOurCheckRuns(octokit, app, repository, wanted.headSha))
  const latest = ours.find(one => one.name === wanted.name && one.headSha === wanted.headSha)
  const same = !wanted.again && latest?.status === 'completed' && latest.conclusion === wanted.conclusion
  if (same && (latest.externalId === wanted.externalId || wanted.quiet)) return { id: latest.id, written: false }
  const anchor = await wanted.beforeWrite?.()
  const run = anchor === undefined ? wanted : { ...wanted, externalId: withAnchor(wanted.externalId, anchor) }
  const batches = inBatches(run.annotations.slice(0, MAX_ANNOTATIONS).map(toAnnotation))
  if (same && latest.title === titleOf(run) && run.sameLines?.(latest.externalId)) {
    // the lines are there: GitHub would append them once more
    return { id: latest.id, written: await change(octokit, repository, latest.id, run, [[]]) }
  }
  // what was announced is completed; one that holds lines already was left behind in the middle
  const begun = latest && latest.status !== 'completed' && latest.annotations === 0
  if (begun) return { id: latest.id, written: await change(octokit, repository, latest.id, run, batches) }
  const { owner, repo } = repository
  const { data } = await github(message`write the check run of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.checks.create({
      owner,
      repo,
      name: run.name,
      head_sha: run.headSha,
      ...whole(run),
      ...(batches.length > 1 ? { status: 'in_progress' } : completed(run)),
      output: { ...outputOf(run), annotations: batches[0] ?? [] },
    }),
  )
  if (batches.length > 1) await change(octokit, repository, data.id, run, batches.slice(1))
  return { id: data.id, written: true }
}

/** Appends the annotations to a run, batch by batch, and completes it with the last one. */
async function change(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  id: number,
  run: CheckRun,
  batches: readonly ReturnType<typeof toAnnotation>[][],
): Promise<true> {
  for (const [index, annotations] of (batches.length > 0 ? batches : [[]]).entries()) {
    const last = index >= batches.length - 1
    await github(message`write the check run of ${repositoryPart({ owner, repo })}`, () =>
      octokit.rest.checks.update({
        owner,
        repo,
        check_run_id: id,
        ...whole(run),
        ...(last ? completed(run) : { status: 'in_progress' }),
        output: { ...outputOf(run), annotations },
      }),
    )
  }
  return true
}

const completed = ({ conclusion }: CheckRun) => ({ status: 'completed', conclusion }) as const

/** What every write says besides the output. */
function whole({ externalId, detailsUrl, actions }: CheckRun) {
  return {
    external_id: externalId,
    ...(detailsUrl ? { details_url: detailsUrl } : {}),
    ...(actions ? { actions: actions.slice(0, MAX_ACTIONS).map(toAction) } : {}),
  }
}

const titleOf = ({ title }: CheckRun) => cutText(title, MAX_TITLE, '…')

function outputOf(run: CheckRun) {
  const left = run.annotations.length - MAX_ANNOTATIONS
  const shown = left > 0 ? `\n\n*${left} more annotations are not shown beside the lines.*` : ''
  const cut = '\n\n*Truncated: GitHub does not show more here.*'
  return {
    title: titleOf(run),
    summary: cutText(run.summary, MAX_TEXT - Buffer.byteLength(shown), cut) + shown,
    ...(run.text ? { text: cutText(run.text, MAX_TEXT, cut) } : {}),
  }
}

function toAction({ label, description, identifier }: Action) {
  return { label: label.slice(0, 20), description: description.slice(0, 40), identifier: identifier.slice(0, 20) }
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
