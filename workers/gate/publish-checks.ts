import { BailiwickError } from '../../src/base/errors.ts'
import { listed, message, part } from '../../src/base/message.ts'
import {
  announceCheckRun,
  type CheckRun,
  changeAnnouncement,
  listOurCheckRuns,
  type OurCheckRun,
  publishCheckRun,
} from '../../src/github/checks.ts'
import { branchPart, type OurRepository } from '../../src/github/client/octokit.ts'
import type { PullRequest } from '../../src/github/pull-request.ts'
import type { Log } from '../../src/process/log.ts'
import type { Queue } from '../../src/receive/queue.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { annotatesTheSame, announcementOf, externalIdOf, type Progress } from '../../src/report/check-run-text.ts'
import type { PageCommit } from '../../src/report/page/check-page.ts'
import { BRANCH_CHECK_NAME, checkNameOf, isShared, type NamedCheck } from '../../src/verdict/check-names.ts'
import type { Case, Writer } from '../fleets/worker-context.ts'
import { blocks, type CommitOutcome, decisionOf } from './commit-outcome.ts'
import { keepPage } from './keep-pages.ts'
import { recordVerdict } from './record-decision.ts'

/** Facts that the caller already knows. */
interface PublishOptions {
  /** Our runs of the commit as they were listed; absent: they are listed now. */
  readonly runs?: readonly OurCheckRun[]
  /** Page with the details. */
  readonly detailsUrl?: string | undefined
  /** A run is written although an identical one exists. */
  readonly again?: boolean | undefined
  /** Called before something new is written: what cannot be recorded is not published. */
  readonly record: CheckRun['beforeWrite'] | undefined
}

/** The check of a branch's tip, which no rule requires. */
export const BRANCH_CHECK: NamedCheck = { name: BRANCH_CHECK_NAME, bases: [], followed: [] }

/**
 * Publishes an outcome under the name of one check; no other code does. Returns whether it wrote. The external id
 * describes the content, so publishing the same twice writes once.
 */
export async function publishVerdict(
  repository: OurRepository,
  check: NamedCheck,
  { outcome, context }: Pick<CommitOutcome, 'outcome' | 'context'>,
  { runs, detailsUrl, again = false, record }: PublishOptions,
): Promise<boolean> {
  const run = checkRunOf(outcome, context)
  const isPaused = context.decisions?.override?.until !== undefined
  const externalId = externalIdOf(outcome, run, context.kind, check, isPaused)
  const asked = again ? `\n\nEvaluated again on request at ${new Date().toISOString().slice(0, 19)}Z.` : ''
  const say = {
    ...run,
    summary: `${run.summary}${asked}`,
    headSha: context.headSha,
    name: check.name,
    externalId,
    again,
    ...(record ? { beforeWrite: record } : {}),
    sameLines: (present: string) => annotatesTheSame(present, externalId),
    ...(detailsUrl === undefined ? {} : { detailsUrl }),
  }
  const { written } = await publishCheckRun(repository, say, runs)
  return written
}

/** What was published of a pull request or merge group. */
interface PublishedChecks {
  /** The most severe of its checks. */
  readonly shown: CommitOutcome
  /** Whether anything was written. */
  readonly written: boolean
  /** Whether one of its checks passes. */
  readonly passes: boolean
  readonly detailsUrl?: string | undefined
}

interface Publishing {
  readonly writer: Writer
  /** The pull request, or the commit of a merge group. */
  readonly about: PullRequest | PageCommit
  /** Our runs of the commit. */
  readonly runs: readonly OurCheckRun[]
  /** Whether a run is written although an identical one exists. */
  readonly again?: boolean
}

/** Publishes a decision under the name of each check of a commit; a name that counts at several bases fails instead. */
export async function publishChecks(
  { repository }: Case,
  { writer, about, runs, again }: Publishing,
  checks: readonly NamedCheck[],
  decided: CommitOutcome,
): Promise<PublishedChecks> {
  const pull = 'number' in about ? about.number : undefined
  let published: PublishedChecks = { shown: decided, written: false, passes: false }
  for (const check of checks) {
    const outcome = isShared(check) ? sharedOutcome(check, decided) : decided
    const detailsUrl = await keepPage(writer.context, repository, check.name, outcome, about)
    const record = () => recordVerdict(writer, pull, check.name, outcome)
    const written =
      (await publishVerdict(writer, check, outcome, { runs, detailsUrl, again, record })) || published.written
    const passes = published.passes || !blocks(outcome)
    const isWorse = decisionOf(outcome).severity > decisionOf(published.shown).severity
    published =
      isWorse || check === checks[0]
        ? { shown: outcome, written, passes, detailsUrl }
        : { ...published, written, passes }
  }
  return published
}

/** Neither an override nor an approval lets it pass: they are about one base. */
function sharedOutcome({ name, bases }: NamedCheck, { context }: CommitOutcome): CommitOutcome {
  const { kind, repository, headSha } = context
  const outcome = new BailiwickError(
    'check-shared',
    message`Several branches share one check: the rules of ${listed(bases.slice(0, MAX_BASES).map(branchPart))} accept ${part('branch', name)}, so a pass for one branch would let this commit into the others`,
    {
      fix: `Run \`/bailiwick gate\` on the fleet. Rules that it cannot edit require ${checkNameOf('BRANCH')} of every branch but the default one.`,
    },
  )
  return { outcome, context: { kind, repository, headSha } }
}

const MAX_BASES = 5

/** A quicker evaluation is published once, when it is done: GitHub limits requests that create content. */
const PATIENCE_MS = 1_500
/** How often progress is published. */
const EVERY_MS = 10_000

/** A slow evaluation whose progress is published. */
interface Announced {
  /** Reports progress; makes no request by itself. */
  readonly report: (progress: Progress) => void
  /** Ends it: our runs of the commit, with the announced ones; undefined if nothing was announced. */
  readonly end: () => Promise<readonly OurCheckRun[] | undefined>
}

interface Announcing {
  readonly place: OurRepository
  readonly headSha: string
  /** Names of the checks that the commit gets. */
  readonly names: readonly string[]
  /** Our check runs of the commit, listed once. */
  readonly runs: () => Promise<readonly OurCheckRun[]>
  /** Writes under the lock of the commit; absent: at once. */
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
  const { place, headSha, names, runs, log } = announcing
  const { withLock = atOnce, patienceMs = PATIENCE_MS, everyMs = EVERY_MS } = announcing
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
          const run = await announceCheckRun(place, { headSha, name, ...text }, present)
          if (run) announced.push(run)
        }
        return announced
      })
      if (made.length === 0) return
    } else if (text.title !== shownTitle) {
      for (const { id } of made) await changeAnnouncement(place, id, text)
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

/** Returns the case with evaluations that report their progress. */
export function watched(subject: Case, { report }: Announced): Case {
  const { evaluator } = subject.context
  const evaluate: typeof evaluator.evaluate = request =>
    evaluator.evaluate(request, ({ rendered, known, total }) =>
      report({ state: 'rendering', rendered, known, ...(total === undefined ? {} : { total }) }),
    )
  return { ...subject, context: { ...subject.context, evaluator: { evaluate } } }
}

/**
 * Our check runs of one commit, as one job knows them. Several jobs and processes may write runs of a commit at once,
 * and GitHub accepts duplicates of a name; so they write under a lock, and read the runs again if another one wrote in
 * between.
 */
export class HeadRuns {
  readonly #queue: Pick<Queue, 'withLock' | 'entries'>
  readonly #repository: OurRepository
  readonly #headSha: string
  #runs: Promise<readonly OurCheckRun[]> | undefined
  #entry = 0

  constructor(queue: Pick<Queue, 'withLock' | 'entries'>, repository: OurRepository, headSha: string) {
    this.#queue = queue
    this.#repository = repository
    this.#headSha = headSha
  }

  /** As they were listed last; listed at most once. After an error they are listed again. */
  readonly list = (): Promise<readonly OurCheckRun[]> => {
    this.#runs ??= this.#ask().catch(error => {
      this.#runs = undefined
      throw error
    })
    return this.#runs
  }

  /** Writes under the lock. `present`: runs that the caller knows; `write` gets them if no other job wrote since. */
  readonly withLock = <T>(
    present: readonly OurCheckRun[],
    write: (runs: readonly OurCheckRun[]) => Promise<T>,
  ): Promise<T> =>
    this.#queue.withLock(this.#key, async entry => {
      const isFirst = entry === this.#entry + 1
      this.#entry = entry
      if (isFirst) return write(present)
      this.#runs = undefined
      const latest = await listOurCheckRuns(this.#repository, this.#headSha)
      this.#runs = Promise.resolve(latest)
      return write(latest)
    })

  async #ask(): Promise<readonly OurCheckRun[]> {
    this.#entry = await this.#queue.entries(this.#key) // before: what is written during the listing counts as new
    return listOurCheckRuns(this.#repository, this.#headSha)
  }

  get #key(): string {
    const { owner, repo } = this.#repository
    return `${owner}/${repo}@${this.#headSha}`.toLowerCase()
  }
}

/**
 * Completes announced runs of a commit that was superseded with `cancelled`, so that none stays in progress or passes.
 * Writes nothing if nothing was announced. `runs`: our runs of the commit.
 */
export async function cancelOvertakenRuns(
  place: OurRepository,
  headSha: string,
  names: readonly string[],
  runs: readonly OurCheckRun[],
): Promise<void> {
  const title = 'Superseded: the pull request changed while it was evaluated'
  const summary = 'The current head and base have a check of their own.'
  for (const name of names) {
    const announced = runs.find(run => run.name === name)
    if (!announced || announced.status === 'completed') continue
    const run = { headSha, name, externalId: '', conclusion: 'cancelled', title, summary, annotations: [] } as const
    await publishCheckRun(place, run, runs)
  }
}
