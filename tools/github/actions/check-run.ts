import { checkRunPayload } from '../events/payloads.ts'
import { object, objects, text } from '../http/body.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import { type Annotation, type App, type CheckRun, now, type Repository, type User, type World } from '../world.ts'
import { ensureSuite, followRuns, reset } from './check-suite.ts'
import { checksChanged } from './merge-queue.ts'

type Body = Readonly<Record<string, unknown>>

const MOST_ANNOTATIONS = 50
const MOST_TITLE = 255
const MOST_TEXT = 65_535
const MOST_MESSAGE = 64 * 1024

/** Creates a check run on a commit. Throws 422 for an unknown commit and above GitHub's limits. */
export function createCheckRun(world: World, repository: Repository, app: App, body: Body): CheckRun {
  const headSha = text(body, 'head_sha') ?? ''
  if (!repository.store.commit(headSha)) throw new HttpError(422, `No commit found for SHA: ${headSha}`)
  checkLimits(body)
  const suite = ensureSuite(world, repository, app, headSha)
  const run: CheckRun = {
    ...{ id: world.nextId(), suite: suite.id, app, headSha, name: '', externalId: '' },
    ...{ detailsUrl: null, status: 'queued', conclusion: null, startedAt: now(), completedAt: null },
    ...{ output: { title: null, summary: null, text: null }, annotations: [], actions: [] },
  }
  assign(run, body)
  repository.checkRuns.push(run)
  world.emit(repository, app.bot, 'check_run', checkRunPayload(world, repository, 'created', run))
  if (run.status === 'completed') announceCompleted(world, repository, run)
  followRuns(world, repository, suite)
  checksChanged(world, repository, headSha)
  return run
}

/** Changes a check run; annotations are added to those that are there. Throws 422 above GitHub's limits. */
export function changeCheckRun(world: World, repository: Repository, run: CheckRun, body: Body): void {
  checkLimits(body)
  const before = run.status
  assign(run, body)
  if (run.status === 'completed' && before !== 'completed') announceCompleted(world, repository, run)
  followRuns(world, repository, ensureSuite(world, repository, run.app, run.headSha))
  checksChanged(world, repository, run.headSha)
}

function announceCompleted(world: World, repository: Repository, run: CheckRun): void {
  world.emit(repository, run.app.bot, 'check_run', checkRunPayload(world, repository, 'completed', run))
}

/**
 * Somebody clicked "Re-run": only the app of the run hears of it, its suite is queued again, and the run itself stays as
 * it is until the app changes it (docs, "Rerequest a check run").
 */
export function rerequest(world: World, repository: Repository, run: CheckRun, by: User): void {
  const suite = repository.checkSuites.get(run.suite)
  if (suite) reset(suite)
  world.emit(repository, by, 'check_run', checkRunPayload(world, repository, 'rerequested', run), run.app)
}

function assign(run: CheckRun, body: Body): void {
  run.name = text(body, 'name') ?? run.name
  run.externalId = text(body, 'external_id') ?? run.externalId
  run.detailsUrl = text(body, 'details_url') ?? run.detailsUrl
  run.startedAt = text(body, 'started_at') ?? run.startedAt
  const conclusion = text(body, 'conclusion')
  const status = conclusion ? 'completed' : (text(body, 'status') as CheckRun['status'] | undefined)
  if (status === 'completed' && !conclusion && !run.conclusion)
    throw invalid('CheckRun', 'conclusion', 'conclusion is missing')
  run.status = status ?? run.status
  if (status === 'completed') {
    run.conclusion = conclusion ?? run.conclusion
    run.completedAt = text(body, 'completed_at') ?? now()
  } else if (status) {
    run.conclusion = null
    run.completedAt = null
  }
  const output = object(body, 'output')
  if (output) {
    const { title, summary, text: details } = run.output
    run.output = {
      title: text(output, 'title') ?? title,
      summary: text(output, 'summary') ?? summary,
      text: text(output, 'text') ?? details,
    }
    run.annotations.push(...objects(output, 'annotations').map(annotation))
  }
  if (body.actions) run.actions = objects(body, 'actions') as unknown as CheckRun['actions']
}

function annotation(raw: Body): Annotation {
  const column = (field: string) => (typeof raw[field] === 'number' ? raw[field] : null)
  return {
    path: text(raw, 'path') ?? '',
    ...{ start_line: Number(raw.start_line), end_line: Number(raw.end_line) },
    ...{ start_column: column('start_column'), end_column: column('end_column') },
    annotation_level: text(raw, 'annotation_level') as Annotation['annotation_level'],
    title: text(raw, 'title') ?? null,
    message: text(raw, 'message') ?? '',
    raw_details: text(raw, 'raw_details') ?? null,
  }
}

function checkLimits(body: Body): void {
  const output = object(body, 'output') ?? {}
  const annotations = objects(output, 'annotations')
  if (annotations.length > MOST_ANNOTATIONS) {
    throw new HttpError(
      422,
      `Invalid request.\n\nNo more than ${MOST_ANNOTATIONS} items are allowed; ${annotations.length} were supplied.`,
    )
  }
  if (objects(body, 'actions').length > 3)
    throw new HttpError(422, 'Invalid request.\n\nNo more than 3 actions are allowed.')
  for (const action of objects(body, 'actions')) {
    atMost('actions.label', text(action, 'label'), 20)
    atMost('actions.identifier', text(action, 'identifier'), 20)
    atMost('actions.description', text(action, 'description'), 40)
  }
  atMost('title', text(output, 'title'), MOST_TITLE)
  atMost('summary', text(output, 'summary'), MOST_TEXT)
  atMost('text', text(output, 'text'), MOST_TEXT)
  for (const raw of annotations) {
    atMost('annotations.title', text(raw, 'title'), MOST_TITLE)
    for (const field of ['message', 'raw_details']) {
      if (Buffer.byteLength(text(raw, field) ?? '') > MOST_MESSAGE)
        throw invalid('CheckAnnotation', field, `${field} is above 64 KB`)
    }
    checkPlace(raw)
  }
}

function atMost(field: string, value: string | undefined, most: number): void {
  const length = value?.length ?? 0
  if (length <= most) return
  throw new HttpError(
    422,
    `Invalid request.\n\nOnly ${most} characters are allowed; ${length} were supplied. (${field})`,
  )
}

/** Lines begin at 1; columns are only for annotations of one line (docs, "Create a check run"). */
function checkPlace(raw: Body): void {
  const [start, end] = [Number(raw.start_line), Number(raw.end_line)]
  const columns = raw.start_column !== undefined || raw.end_column !== undefined
  if (start < 1 || end < start) throw invalid('CheckAnnotation', 'start_line', `lines ${start} to ${end}`)
  if (columns && start !== end) throw invalid('CheckAnnotation', 'start_column', 'columns need start_line = end_line')
}
