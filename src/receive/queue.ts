import { createHash } from 'node:crypto'
import { BailiwickError } from '../base/errors.ts'
import { currentWork, type LoggedWork } from '../process/log.ts'

/** What GitHub waits for after a rerun of a check was requested: a run that completes, with any conclusion. */
interface Asked {
  readonly rerun?: true
}

/** The repository that a job is about. */
interface OnRepository {
  readonly installation: number
  readonly owner: string
  readonly repo: string
}

interface OnPullRequest extends OnRepository {
  readonly pull: number
}

/** Evaluate a pull request in its present state. `unlike`: id of a tree that an earlier verdict was about, and GitHub's merge is not. */
export type ValidatePullRequest = Asked & OnPullRequest & { readonly unlike?: string }

/** Compare the merge that a verdict was about with the one that GitHub makes of the same commits. `tree`: id of its tree. */
export interface VerifyMerge extends OnPullRequest {
  readonly base: string
  readonly head: string
  readonly tree: string
}

/** Evaluate one commit of a branch in its revision set, then reconcile the clusters that follow it. */
export interface ValidatePush extends Asked, OnRepository {
  readonly branch: string
  readonly sha: string
  /** What the branch held before the push; absent where it is unknown, or was empty. */
  readonly before?: string
}

/** Evaluate every open pull request with this head commit, because they share its check run. */
export interface EvaluateCommit extends Asked, OnRepository {
  readonly sha: string
  /** A pull request with this head that was closed. */
  readonly closed?: number
}

/** Take back the credentials of an onboarding that was closed without a merge. */
export type WithdrawAccess = OnPullRequest

/** Go on with an offboarding, of which a pull request was merged or applied. */
export type SettleOffboarding = OnPullRequest

/** Evaluate the fleets that follow a tag or branch that moved or was deleted. */
export interface EvaluateFollowers extends OnRepository {
  /** Its full name, `refs/tags/v1`. */
  readonly ref: string
}

/** Evaluate the tree that a merge queue would merge into a branch, compared with `base`, at its own commit. */
export interface ValidateMergeGroup extends OnRepository {
  /** The branch that the group would be merged into. */
  readonly branch: string
  /** Head of the group. */
  readonly sha: string
  /** What the branch, or the group before it, holds. */
  readonly base: string
}

/** Update the names of our checks on a repository after its gated bases may have changed. */
export type SettleChecks = OnRepository

/** Run a `/bailiwick ...` command. The comment is read again from GitHub; none of its content is trusted here. */
export interface CommandJob extends OnRepository {
  readonly issue: number
  readonly comment: number
}

/** A button of our check run that was pressed. GitHub is asked what `login` may do. */
export interface CheckAction extends OnRepository {
  /** Id of the check run. */
  readonly check: number
  readonly action: 'fix' | 'waive'
  readonly login: string
}

/** Reply to an issue that was opened with the form for a new tenant. */
export interface TenantRequest extends OnRepository {
  readonly issue: number
}

/** Survey the fleets of an installation and publish the first report. */
export interface Survey {
  readonly installation: number
}

/** Evaluate everything open of one installation again, because its repositories changed. */
export interface SweepInstallation {
  readonly installation: number
}

/** Have GitHub send again what it could not deliver. */
type Redeliver = Record<never, never>

/** Publish on the present head of a pull request that its evaluation job failed for good. */
export interface ReportDeadPullRequest extends OnPullRequest {
  /** Code of the error that it died of. */
  readonly why: string
  /** When, in ms: a later time that was set before stays. */
  readonly at: number
}

/** Publish on a commit that its evaluation job failed for good. */
export interface ReportDeadCommit extends OnRepository {
  readonly sha: string
  /** Branch that a merge group would be merged into; absent for the tip of a branch. */
  readonly base?: string
  readonly why: string
  readonly at: number
}

/** Update the comment and the suggestions on a pull request to its last evaluation. */
export type PostOnPullRequest = OnPullRequest

/** Publish on a merged pull request what became of its commit on the clusters. */
export interface PostApplied extends OnRepository {
  readonly sha: string
}

/** Write the waiting decisions of a fleet to its trail. */
export type WriteTrail = OnRepository

/** Apply the approved state to one cluster of the operator's clusters.yaml. */
export interface Reconcile {
  readonly cluster: string
}

/** Publish what the worker in a cluster reported last. */
export interface PublishResults {
  readonly cluster: string
}

/** Find work that was not enqueued, or whose job was lost. */
type Sweep = Record<never, never>

/** All kinds of jobs. Their data are keys only; each worker reads the present state itself. */
export interface Jobs {
  readonly 'validate-pull-request': ValidatePullRequest
  readonly 'verify-merge': VerifyMerge
  readonly 'post-on-pull-request': PostOnPullRequest
  readonly 'validate-push': ValidatePush
  readonly 'evaluate-commit': EvaluateCommit
  readonly 'withdraw-access': WithdrawAccess
  readonly 'settle-offboarding': SettleOffboarding
  readonly 'evaluate-followers': EvaluateFollowers
  readonly 'validate-merge-group': ValidateMergeGroup
  readonly 'settle-checks': SettleChecks
  readonly command: CommandJob
  readonly 'check-action': CheckAction
  readonly 'tenant-request': TenantRequest
  readonly survey: Survey
  readonly 'sweep-installation': SweepInstallation
  readonly redeliver: Redeliver
  readonly 'report-dead-pull-request': ReportDeadPullRequest
  readonly 'report-dead-commit': ReportDeadCommit
  readonly 'write-trail': WriteTrail
  readonly reconcile: Reconcile
  readonly 'post-applied': PostApplied
  readonly 'publish-results': PublishResults
  readonly sweep: Sweep
}

export type JobName = keyof Jobs

/** `lastAttempt`: if this throws, the job is not retried. */
export interface Attempt {
  readonly number: number
  readonly lastAttempt: boolean
  readonly signal: AbortSignal
  /** When the job was last requested, in ms. */
  readonly addedAt?: number
  /** GitHub's id of the webhook that requested it, directly or through other jobs. */
  readonly delivery?: string | undefined
}

/** The webhook that the present work is for: what it enqueues is for it, too. */
export const currentDelivery = (): string | undefined => deliveryId(currentWork().delivery)

/** GitHub's id of a webhook; undefined for anything else, since anyone who can write to Redis can change a job. */
export const deliveryId = (text: unknown): string | undefined =>
  typeof text === 'string' && /^[\w-]{1,100}$/.test(text) ? text : undefined

/** How log lines name a job: its kind, key, repository and subject, the attempt, and the webhook that it is for. */
export function aboutJob<N extends JobName>(
  name: N,
  data: unknown,
  { number: attempt, delivery }: Pick<Attempt, 'number' | 'delivery'>,
): LoggedWork {
  const job = checkJob(name, data)
  const { owner, repo, ...subject } = job as Readonly<Record<string, string | number>>
  const repository = owner === undefined ? {} : { repository: `${owner}/${repo}` }
  const cause = delivery === undefined ? {} : { delivery }
  return { ...subject, ...repository, job: name, key: jobKey(name, job), attempt, ...cause }
}

/** How many jobs of a kind are in which state. */
export interface QueueDepth {
  readonly queue: JobName
  readonly waiting: number
  readonly active: number
  readonly delayed: number
  /** Given up, and kept to be looked at; 0 where nothing is kept. */
  readonly failed: number
}

export type Handler<N extends JobName> = (data: Jobs[N], attempt: Attempt) => Promise<void>

/**
 * Stored jobs. Waiting jobs with equal name and key are one job; while one runs, the next waits and runs once
 * afterwards. Jobs with different keys run in parallel; `reconcile` has a queue per cluster. A handler that throws
 * BailiwickError with code `not-permitted`, or of an onboarding or offboarding, is not retried. A job that hits a rate
 * limit (`limited`) waits as long as requested, without using up an attempt, and so do all jobs of its installation.
 * Repositories take turns, so a flood delays only its own repository.
 */
export interface Queue {
  /** Resolves when the job is stored; rejects within `addTimeoutMs` when the store does not answer. */
  add<N extends JobName>(name: N, data: Jobs[N], options?: { readonly delayMs?: number }): Promise<void>
  /** Starts to work on a kind of job. For `reconcile`, one call per cluster. */
  work<N extends JobName>(name: N, handler: Handler<N>, options?: WorkOptions<N>): void
  /** Calls `add` every `everyMs` until close; idempotent per name and key, survives restarts where the store does. */
  repeat<N extends JobName>(name: N, data: Jobs[N], everyMs: number): Promise<void>
  /**
   * Does something while no one else does it with this key, in any process on the store, as far as the store can tell.
   * `entry` is one more than that of the last holder; NaN where the store does not answer.
   */
  withLock<T>(key: string, work: (entry: number) => Promise<T>): Promise<T>
  /** The last entry of `withLock` with this key; 0: none yet. */
  entries(key: string): Promise<number>
  /** Resolves when no job waits or runs (tests, the demo, a graceful stop). Repeats do not count while they wait. */
  idle(): Promise<void>
  /** Starts no more jobs, waits for the running ones at most `graceMs` (what they add is stored), lets go of the store. */
  close(graceMs?: number): Promise<void>
}

/** A queue for the process that opened it, which can also close it. */
export interface OpenQueue extends Queue {
  /** Resolves when the store answers; rejects with `queue-unavailable` when it does not, or the queue is closed. */
  ping(): Promise<void>
  /** Every kind of job that was ever added, by name. Throws `queue-unavailable` like `ping`. */
  depths(): Promise<readonly QueueDepth[]>
}

export interface WorkOptions<N extends JobName> {
  readonly concurrency?: number
  /** Only for `reconcile`: the cluster whose queue to work on. */
  readonly cluster?: string
  /** Called with each job that is over without success: refused, tried too often, or its workers died of it. */
  readonly dead?: (data: Jobs[N], error: unknown) => Promise<void>
}

/**
 * The key of a job: a hash of all its data in a fixed order, with owner and repository in lower case (as on GitHub).
 * Hashed because BullMQ forbids ":" in ids and branch names can be long.
 */
export function jobKey<N extends JobName>(name: N, data: Jobs[N]): string {
  const parts = Object.entries(data)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, value]) => [field, field === 'owner' || field === 'repo' ? String(value).toLowerCase() : value])
  return sha256(JSON.stringify([name, parts])).slice(0, 40)
}

/** The queue that a job of this name and data waits in: one per name, for `reconcile` one per cluster. */
export function queueName(name: JobName, cluster: string | undefined): string {
  if (name !== 'reconcile') return name
  if (!cluster) throw new BailiwickError('internal', 'reconcile job: the cluster is missing')
  return `reconcile-${sha256(cluster).slice(0, 16)}`
}

/** The cluster of a job, if it has one. */
export function clusterOf<N extends JobName>(name: N, data: Jobs[N]): string | undefined {
  return name === 'reconcile' ? (data as Jobs['reconcile']).cluster : undefined
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

type Fits = (value: unknown) => boolean

const id: Fits = value => typeof value === 'number' && Number.isSafeInteger(value) && value > 0
const text =
  (pattern: RegExp): Fits =>
  value =>
    typeof value === 'string' && pattern.test(value)
const accountName = text(/^[A-Za-z\d][\w-]{0,99}$/)
const repositoryName = text(/^(?!\.{1,2}$)[\w.-]{1,100}$/)
// Git forbids control characters in branch names: https://git-scm.com/docs/git-check-ref-format
const branch = text(/^[^\p{Cc} ]{1,1000}$/u)
const sha = text(/^[\da-f]{40}(?:[\da-f]{24})?$/)
const optional =
  (fits: Fits): Fits =>
  value =>
    value === undefined || fits(value)
const pressed: Fits = value => value === true
const cluster = text(/^[A-Za-z\d][\w.-]{0,252}$/)
const place = { installation: id, owner: accountName, repo: repositoryName }

const FIELDS: { readonly [N in JobName]: Readonly<Record<keyof Required<Jobs[N]>, Fits>> } = {
  'validate-pull-request': { ...place, pull: id, rerun: optional(pressed), unlike: optional(sha) },
  'verify-merge': { ...place, pull: id, base: sha, head: sha, tree: sha },
  'post-on-pull-request': { ...place, pull: id },
  'validate-push': { ...place, branch, sha, before: optional(sha), rerun: optional(pressed) },
  'withdraw-access': { ...place, pull: id },
  'settle-offboarding': { ...place, pull: id },
  'evaluate-commit': { ...place, sha, rerun: optional(pressed), closed: optional(id) },
  'evaluate-followers': { ...place, ref: branch },
  'validate-merge-group': { ...place, branch, sha, base: sha },
  'settle-checks': place,
  command: { ...place, issue: id, comment: id },
  'check-action': { ...place, check: id, action: text(/^(?:fix|waive)$/), login: accountName },
  'tenant-request': { ...place, issue: id },
  survey: { installation: id },
  'sweep-installation': { installation: id },
  redeliver: {},
  'report-dead-pull-request': { ...place, pull: id, why: text(/^[a-z-]{1,40}$/), at: id },
  'report-dead-commit': { ...place, sha, base: optional(branch), why: text(/^[a-z-]{1,40}$/), at: id },
  'write-trail': place,
  reconcile: { cluster },
  'post-applied': { ...place, sha },
  'publish-results': { cluster },
  sweep: {},
}

/**
 * Validates a job's fields and drops all others. Used when a job is stored and when it is taken, because anyone who can
 * write to Redis can change it. Throws `internal`.
 */
export function checkJob<N extends JobName>(name: N, data: unknown): Jobs[N] {
  const given = new Map(Object.entries(typeof data === 'object' && data !== null ? data : {}))
  const fields = Object.entries<Fits>(FIELDS[name])
  for (const [field, fits] of fields) {
    if (!fits(given.get(field))) throw new BailiwickError('internal', `${name} job: ${field} is missing or not valid`)
  }
  const there = fields.filter(([field]) => given.get(field) !== undefined)
  return Object.fromEntries(there.map(([field]) => [field, given.get(field)])) as unknown as Jobs[N]
}

type Depth = Partial<Omit<QueueDepth, 'queue'>>

/** Sums queue depths by kind of job; the reconcile queues of all clusters count as one. */
export function sumDepths(queues: readonly (readonly [string, Depth])[]): QueueDepth[] {
  const sums = new Map<JobName, QueueDepth>()
  for (const [id, { waiting = 0, active = 0, delayed = 0, failed = 0 }] of queues) {
    const queue = (id.startsWith('reconcile-') ? 'reconcile' : id) as JobName
    const sum = sums.get(queue) ?? { queue, waiting: 0, active: 0, delayed: 0, failed: 0 }
    sums.set(queue, {
      queue,
      waiting: sum.waiting + waiting,
      active: sum.active + active,
      delayed: sum.delayed + delayed,
      failed: sum.failed + failed,
    })
  }
  return [...sums.values()].sort((a, b) => (a.queue < b.queue ? -1 : 1))
}
