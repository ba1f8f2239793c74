import { announceCheckRun, changeAnnouncement } from '../../src/github/checks/announce-check-run.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import type { Log } from '../../src/process/log.ts'
import { announcementOf, type Progress } from '../../src/report/announcement.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { HeadRuns } from './head-runs.ts'
import type { PublishTarget } from './publish-verdict.ts'

/** What is quicker than this is said once, when it is done: a request that creates content is dear. */
const PATIENCE_MS = 1_500
/** How often it is said how far it is. */
const EVERY_MS = 10_000

/** Something that takes a while and is told about meanwhile. */
interface Announced {
  /** Says how far it is; costs nothing by itself. */
  readonly report: (progress: Progress) => void
  /** Ends it: our runs of the commit, with the announced ones; undefined where nothing was announced. */
  readonly end: () => Promise<readonly OurCheckRun[] | undefined>
}

interface Announcing {
  readonly place: PublishTarget
  readonly headSha: string
  /** Names of the checks that the commit gets. */
  readonly names: readonly string[]
  /** Our check runs of the commit, asked for once. */
  readonly runs: () => Promise<readonly OurCheckRun[]>
  /** Writes while nobody else writes about the commit; absent: at once. */
  readonly withLock?: HeadRuns['withLock']
  readonly log: Log
  readonly patienceMs?: number
  readonly everyMs?: number
}

/**
 * Announces a slow evaluation on a commit without a verdict: one in-progress check run per name, updated now and then,
 * and completed by the verdict. Errors here are only logged.
 */
export function announceSlow(announcing: Announcing): Announced {
  const {
    place,
    headSha,
    names,
    runs,
    withLock = atOnce,
    log,
    patienceMs = PATIENCE_MS,
    everyMs = EVERY_MS,
  } = announcing
  let progress: Progress = { state: 'queued' }
  let shownTitle: string | undefined
  let made: readonly OurCheckRun[] = []
  let given: readonly OurCheckRun[] | undefined
  let writing = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const next = (ms: number) => {
    timer = setTimeout(() => {
      writing = say().catch(error => log.warn({ err: error, headSha }, 'in-progress check run could not be published'))
    }, ms)
    timer.unref()
  }
  const say = async () => {
    const text = announcementOf(progress)
    if (!given) {
      made = await withLock(await runs(), async present => {
        given = present
        const announced: OurCheckRun[] = []
        for (const name of names) {
          const run = await announceCheckRun(place.octokit, place.app, place, { headSha, name, ...text }, present)
          if (run) announced.push(run)
        }
        return announced
      })
      if (made.length === 0) return
    } else if (text.title !== shownTitle) {
      for (const { id } of made) await changeAnnouncement(place.octokit, place, id, text)
    }
    shownTitle = text.title
    if (timer !== undefined) next(everyMs)
  }
  next(patienceMs)
  return {
    report: latest => {
      progress = latest
    },
    end: async () => {
      clearTimeout(timer)
      timer = undefined
      await writing
      const ids = new Set(made.map(({ id }) => id))
      return made.length > 0 && given ? [...made, ...given.filter(({ id }) => !ids.has(id))] : undefined
    },
  }
}

const atOnce: HeadRuns['withLock'] = (present, write) => write(present)

/** Returns the context with evaluations that report their progress. */
export function watched(context: WorkerContext, { report }: Announced): WorkerContext {
  const { evaluator } = context
  return {
    ...context,
    evaluator: {
      evaluate: request =>
        evaluator.evaluate(request, ({ rendered, known, total }) =>
          report({ state: 'rendering', rendered, known, ...(total === undefined ? {} : { total }) }),
        ),
    },
  }
}
