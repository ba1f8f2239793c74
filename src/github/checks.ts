import type { Annotation } from '../report/check-run-text.ts'
import { type TrailAnchor, withAnchor, withoutAnchor } from '../verdict/trail-entry.ts'
import { unlessMissing } from './client/github-error.ts'
import { cutText, type GitHubRepository, type OurRepository } from './client/octokit.ts'

/** `neutral` and `skipped` satisfy a required check, so we never use them. */
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
  /** Hash of the report: the same id and conclusion are not posted twice. */
  readonly externalId: string
  readonly conclusion: Conclusion
  readonly title: string
  /** Markdown. */
  readonly summary: string
  readonly text?: string
  readonly annotations: readonly Annotation[]
  readonly actions?: readonly Action[]
  readonly detailsUrl?: string
  /** It reports that nothing happened: a run of ours that succeeded on this commit is worth more, and stays. */
  readonly quiet?: boolean
  /** It was requested again: a new run is written even where the report is the same. */
  readonly again?: boolean
  /** Called before the first write, and never where the same stands there; its answer is noted in the external id. */
  readonly beforeWrite?: () => Promise<TrailAnchor | undefined>
  /** Whether the run that is there, with this id, annotates the same lines: then its text may be brought up to date in place. */
  readonly sameLines?: (externalId: string) => boolean
}

interface PublishedCheckRun {
  readonly id: number
  /** False: it was posted already. */
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
  repository: OurRepository,
  wanted: CheckRun,
  present?: readonly OurCheckRun[],
): Promise<PublishedCheckRun> {
  const ours = present ?? (await listOurCheckRuns(repository, wanted.headSha))
  const latest = ours.find(one => one.name === wanted.name && one.headSha === wanted.headSha)
  const same = !wanted.again && latest?.status === 'completed' && latest.conclusion === wanted.conclusion
  if (same && (latest.externalId === wanted.externalId || wanted.quiet)) return { id: latest.id, written: false }
  const anchor = await wanted.beforeWrite?.()
  const externalId = anchor === undefined ? wanted.externalId : withAnchor(wanted.externalId, anchor)
  const run = { ...wanted, externalId, isFirst: latest?.status !== 'completed' }
  const batches = inBatches(run.annotations.slice(0, MAX_ANNOTATIONS).map(toAnnotation))
  if (same && latest.title === titleOf(run) && run.sameLines?.(latest.externalId)) {
    // the lines are there: GitHub would append them once more
    return { id: latest.id, written: await change(repository, latest.id, run, [[]]) }
  }
  // what was announced is completed; one that holds lines already was left behind in the middle
  const begun = latest && latest.status !== 'completed' && latest.annotations === 0
  if (begun) return { id: latest.id, written: await change(repository, latest.id, run, batches) }
  const { octokit, owner, repo } = repository
  const { data } = await octokit.rest.checks.create({
    owner,
    repo,
    name: run.name,
    head_sha: run.headSha,
    ...whole(run),
    ...(batches.length > 1 ? { status: 'in_progress' } : completed(run)),
    output: { ...outputOf(run), annotations: batches[0] ?? [] },
  })
  if (batches.length > 1) await change(repository, data.id, run, batches.slice(1))
  return { id: data.id, written: true }
}

/** `isFirst`: the first verdict of its commit, which goes before all other writes, see paceWrites. */
type RankedCheckRun = CheckRun & { readonly isFirst: boolean }

/** Appends the annotations to a run, batch by batch, and completes it with the last one. */
async function change(
  { octokit, owner, repo }: GitHubRepository,
  id: number,
  run: RankedCheckRun,
  batches: readonly ReturnType<typeof toAnnotation>[][],
): Promise<true> {
  for (const [index, annotations] of (batches.length > 0 ? batches : [[]]).entries()) {
    const last = index >= batches.length - 1
    await octokit.rest.checks.update({
      owner,
      repo,
      check_run_id: id,
      ...whole(run),
      ...(last ? completed(run) : { status: 'in_progress' }),
      output: { ...outputOf(run), annotations },
    })
  }
  return true
}

const completed = ({ conclusion }: CheckRun) => ({ status: 'completed', conclusion }) as const

/** What every write contains besides the output. */
function whole({ externalId, detailsUrl, actions, isFirst }: RankedCheckRun) {
  return {
    request: { isFirst },
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

/** A check run that is not finished. */
interface Announcement {
  readonly headSha: string
  readonly name: string
  readonly status: 'queued' | 'in_progress'
  readonly title: string
  /** Markdown. */
  readonly summary: string
}

/**
 * Marks a commit as being evaluated; undefined where a completed run of ours has more to report. Takes up a run that
 * was announced before. `present`: our runs of the commit, where the caller has listed them.
 */
export async function announceCheckRun(
  repository: OurRepository,
  run: Announcement,
  present?: readonly OurCheckRun[],
): Promise<OurCheckRun | undefined> {
  const ours = present ?? (await listOurCheckRuns(repository, run.headSha))
  const latest = ours.find(one => one.name === run.name && one.headSha === run.headSha)
  if (latest?.status === 'completed') return undefined
  if (latest && latest.annotations === 0) {
    await changeAnnouncement(repository, latest.id, run)
    return latest
  }
  const { octokit, owner, repo } = repository
  const { data } = await octokit.rest.checks.create({
    owner,
    repo,
    name: run.name,
    head_sha: run.headSha,
    request: { isFirst: true },
    status: run.status,
    output: announcedOutput(run),
  })
  return {
    id: data.id,
    name: run.name,
    headSha: run.headSha,
    status: data.status,
    conclusion: null,
    startedAt: data.started_at,
    completedAt: null,
    externalId: '',
    detailsUrl: data.details_url,
    title: run.title,
    summary: run.summary,
    text: '',
    annotations: 0,
  }
}

/** Updates the progress of an announced run. */
export async function changeAnnouncement(
  { octokit, owner, repo }: GitHubRepository,
  id: number,
  { status, ...output }: Omit<Announcement, 'headSha' | 'name'>,
): Promise<void> {
  await octokit.rest.checks.update({ owner, repo, check_run_id: id, status, output: announcedOutput(output) })
}

const announcedOutput = ({ title, summary }: Pick<Announcement, 'title' | 'summary'>) => ({
  title: cutText(title, 255, '…'),
  summary,
})

/** A check run of our App as GitHub has it now. */
export interface OurCheckRun {
  readonly id: number
  readonly name: string
  readonly headSha: string
  readonly status: string
  readonly conclusion: string | null
  readonly startedAt: string | null
  readonly completedAt: string | null
  /** Without the place in a trail that it notes. */
  readonly externalId: string
  readonly detailsUrl: string | null
  readonly title: string
  readonly summary: string
  readonly text: string
  /** How many lines it annotates. */
  readonly annotations: number
}

/** The latest check run of each name that our App wrote on a commit, the newest first. Other Apps' runs are not ours. */
export async function listOurCheckRuns(
  { octokit, app, owner, repo }: OurRepository,
  sha: string,
): Promise<readonly OurCheckRun[]> {
  const found = await octokit.paginate(octokit.rest.checks.listForRef, {
    owner,
    repo,
    ref: sha,
    app_id: app.id,
    filter: 'latest',
    per_page: 100,
  })
  const names = new Set<string>()
  return found
    .filter(one => one.app?.id === app.id && one.head_sha === sha)
    .sort((a, b) => b.id - a.id)
    .filter(({ name }) => !names.has(name) && names.add(name))
    .map(one => ({
      id: one.id,
      name: one.name,
      headSha: one.head_sha,
      status: one.status,
      conclusion: one.conclusion,
      startedAt: one.started_at,
      completedAt: one.completed_at,
      externalId: withoutAnchor(one.external_id ?? ''),
      detailsUrl: one.details_url,
      title: one.output.title ?? '',
      summary: one.output.summary ?? '',
      text: one.output.text ?? '',
      annotations: one.output.annotations_count,
    }))
}

/** A check run of ours, by its id. */
interface ReadCheckRun {
  readonly name: string
  readonly headSha: string
}

/** The check run, where it is there and our App wrote it. */
export async function readCheckRun(
  { octokit, app, owner, repo }: OurRepository,
  id: number,
): Promise<ReadCheckRun | undefined> {
  const found = await unlessMissing(octokit.rest.checks.get({ owner, repo, check_run_id: id }))
  if (found?.data.app?.id !== app.id) return undefined
  return { name: found.data.name, headSha: found.data.head_sha }
}

/** Which runs are renamed, and what they are called then. */
interface Renaming {
  readonly headSha: string
  readonly from: string
  readonly to: string
}

/**
 * Renames all our check runs of a name on a commit: they satisfy no rule that requires the old one. Conclusions stay;
 * what is not completed is cancelled. The latest is renamed last: no older one counts in between.
 */
export async function renameCheckRuns(
  { octokit, app, owner, repo }: OurRepository,
  { headSha, from, to }: Renaming,
): Promise<void> {
  const filter = { check_name: from, app_id: app.id, filter: 'all', per_page: 100 } as const
  const found = await octokit.paginate(octokit.rest.checks.listForRef, { owner, repo, ref: headSha, ...filter })
  const ours = found.filter(run => run.app?.id === app.id && run.head_sha === headSha && run.name === from)
  for (const { id, status } of ours.sort((a, b) => a.id - b.id)) {
    const end = status === 'completed' ? {} : ({ conclusion: 'cancelled' } as const)
    await octokit.rest.checks.update({ owner, repo, check_run_id: id, name: to, ...end })
  }
}
