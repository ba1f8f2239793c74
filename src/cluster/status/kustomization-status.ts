import type { Json } from '../../kube/node.ts'
import type { InventoryEntry } from '../inventory.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from '../json.ts'
import { isOurs } from '../server-side-apply.ts'

/** How far an attempt came, as the reason of the Ready condition. */
type FailureReason =
  | 'ArtifactFailed'
  | 'BuildFailed'
  | 'ReconciliationFailed'
  | 'PruneFailed'
  | 'HealthCheckFailed'
  | 'HealthCheckCanceled'

/** The result of a Kustomization in one run, as far as its status shows it. */
export type ReconcileOutcome =
  /** Everything is applied. `healthMs`: how long its health checks took; absent where it has none. */
  | { readonly state: 'applied'; readonly entries: readonly InventoryEntry[]; readonly healthMs?: number }
  /** Everything is applied, and its health checks run. */
  | { readonly state: 'checking'; readonly entries: readonly InventoryEntry[] }
  /** `entries`: absent where what it has on the cluster did not change. `healthMs`: how long a failed health check took. */
  | {
      readonly state: 'failed'
      readonly reason: FailureReason
      readonly message: string
      readonly entries?: readonly InventoryEntry[]
      readonly healthMs?: number
    }
  /** It was not attempted: `DependencyNotReady`, or a reason of ours. It is looked at again. */
  | { readonly state: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly state: 'suspended' }
  /** It cannot be attempted before its spec changes. */
  | { readonly state: 'stalled'; readonly reason: string; readonly message: string }

export interface ReconcileAttempt {
  /** `main@sha1:<commit>`. */
  readonly revision: string
  /** Of an OCI artifact: the revision that it was built from. */
  readonly originRevision?: string
  /** `sha256:<hex>` of what was built. */
  readonly digest: string
  readonly timeoutMs: number
  readonly durationMs: number
  readonly outcome: ReconcileOutcome
}

interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

type Status = { [field: string]: Json }

const ORDER = ['Stalled', 'Reconciling', 'Ready']
const OWNED = ['Ready', 'Reconciling', 'Healthy', 'Stalled']
const MAX_HISTORY = 5
const MAX_MESSAGE = 32_768

/**
 * The status that kustomize-controller 1.9 would have left on the live Kustomization after this attempt; undefined
 * where nothing in it changes, so that no write is needed. Pure. Source: fluxcd/kustomize-controller
 * kustomization_controller.go, fluxcd/pkg runtime/conditions and apis/meta/history.go.
 */
export function nextStatus(live: Json, attempt: ReconcileAttempt, now: Date): Json | undefined {
  const before = mapAt(live, 'status')
  const after = withRequest(live, outcomeStatus(live, before, attempt))
  if (same(before, after)) return undefined
  if (attempt.outcome.state === 'suspended') return after
  return withHistory(withTimes(live, before, after, now), attempt, now)
}

/** Whether the attempt changes the revision in the status, and nothing else. Pure. */
export function changesOnlyRevision(live: Json, attempt: ReconcileAttempt): boolean {
  const before = mapAt(live, 'status')
  const revision = stringAt(before, 'lastAppliedRevision')
  if (attempt.outcome.state !== 'applied' || revision === '' || revision === attempt.revision) return false
  const origin = stringAt(before, 'lastAppliedOriginRevision')
  const { originRevision: _, ...rest } = attempt
  const again = { ...rest, revision, ...(origin === '' ? {} : { originRevision: origin }) }
  return same(before, withRequest(live, outcomeStatus(live, before, again)))
}

function withRequest(live: Json, status: Status): Status {
  const requested = requestedAt(live)
  return requested === '' ? status : { ...status, lastHandledReconcileAt: requested }
}

function outcomeStatus(live: Json, before: Status, attempt: ReconcileAttempt): Status {
  const { outcome, revision, originRevision } = attempt
  const generation = jsonAt(live, 'metadata', 'generation') ?? 0
  if (outcome.state === 'suspended')
    return isTrue(live, 'Ready') ? { ...before, observedGeneration: generation } : before
  if (outcome.state === 'waiting') {
    const kept = without(before, ['Ready'])
    return withConditions(before, [...retried(kept), ready('False', outcome.reason, outcome.message)])
  }
  if (outcome.state === 'stalled') {
    const kept = without(before, ['Ready', 'Reconciling', 'Stalled'])
    const { reason, message } = outcome
    const stalled: Condition = { type: 'Stalled', status: 'True', reason, message }
    return {
      ...withConditions(before, [...kept, ready('False', reason, message), stalled]),
      observedGeneration: generation,
    }
  }
  const inventory = outcome.entries === undefined ? {} : { inventory: inventoryOf(outcome.entries) }
  const attempted =
    outcome.state === 'failed' && outcome.reason === 'ArtifactFailed' ? {} : { lastAttemptedRevision: revision }
  const base: Status = { ...before, ...attempted, ...inventory }
  if (outcome.state === 'checking') return withConditions(base, checking(attempt))
  if (outcome.state === 'failed') return withConditions(base, failed(before, attempt, outcome))
  const healthy = outcome.healthMs === undefined ? [] : [passed(outcome.healthMs)]
  const applied = ready('True', 'ReconciliationSucceeded', `Applied revision: ${revision}`)
  const { lastAppliedOriginRevision: _, ...rest } = base
  return {
    ...withConditions(rest, [...others(before), applied, ...healthy]),
    observedGeneration: generation,
    lastAppliedRevision: revision,
    ...(originRevision ? { lastAppliedOriginRevision: originRevision } : {}),
  }
}

const ready = (status: Condition['status'], reason: string, message: string): Condition => ({
  type: 'Ready',
  status,
  reason,
  message,
})

const passed = (ms: number): Condition => ({
  type: 'Healthy',
  status: 'True',
  reason: 'Succeeded',
  message: `Health check passed in ${goDuration(ms)}`,
})

const within = (what: string, { revision, timeoutMs }: ReconcileAttempt): string =>
  `${what} for revision ${revision} with a timeout of ${goDuration(timeoutMs)}`

function checking(attempt: ReconcileAttempt): Condition[] {
  const message = within('Running health checks', attempt)
  return [
    { type: 'Reconciling', status: 'True', reason: 'Progressing', message },
    ready('Unknown', 'Progressing', 'Reconciliation in progress'),
    { type: 'Healthy', status: 'Unknown', reason: 'Progressing', message },
  ]
}

const STEPS: Readonly<Record<FailureReason, string>> = {
  ArtifactFailed: 'Fetching manifests',
  BuildFailed: 'Building manifests',
  ReconciliationFailed: 'Detecting drift',
  PruneFailed: 'Detecting drift',
  HealthCheckFailed: 'Running health checks',
  HealthCheckCanceled: 'Running health checks',
}

/** A failure keeps the Reconciling of the step that it failed in: it is tried again. */
function failed(
  before: Status,
  attempt: ReconcileAttempt,
  outcome: Extract<ReconcileOutcome, { state: 'failed' }>,
): Condition[] {
  const { reason, message } = outcome
  const unhealthy: Condition[] =
    reason === 'HealthCheckFailed' ? [{ type: 'Healthy', status: 'False', reason, message }] : []
  const kept = without(before, ['Ready', 'Reconciling', 'Stalled', ...unhealthy.map(({ type }) => type)])
  const step = within(STEPS[reason], attempt)
  return [
    ...kept,
    { type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry', message: step },
    ready('False', reason, failureText(outcome)),
    ...unhealthy,
  ]
}

/** What the Ready condition and the event report about a failure. */
export function failureText({ reason, message, healthMs = 0 }: Extract<ReconcileOutcome, { state: 'failed' }>): string {
  return reason === 'HealthCheckFailed' ? `health check failed after ${goDuration(healthMs)}: ${message}` : message
}

/** Conditions of others stay. */
const others = (status: Status): Condition[] => without(status, OWNED)

function without(status: Status, types: readonly string[]): Condition[] {
  return itemsAt(status, 'conditions')
    .map(asCondition)
    .filter(({ type }) => !types.includes(type))
}

function asCondition(json: Json): Condition {
  const status = stringAt(json, 'status')
  return {
    type: stringAt(json, 'type'),
    status: status === 'True' || status === 'False' ? status : 'Unknown',
    reason: stringAt(json, 'reason'),
    message: stringAt(json, 'message'),
  }
}

const retried = (conditions: readonly Condition[]): Condition[] =>
  conditions.map(one => (one.type === 'Reconciling' ? { ...one, reason: 'ProgressingWithRetry' } : one))

function withConditions(status: Status, conditions: readonly Condition[]): Status {
  const trimmed = conditions.map(one => ({ ...one, message: trim(one.message) }))
  return { ...status, conditions: trimmed.sort(byWeight) as unknown as Json }
}

const trim = (message: string): string =>
  message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 3)}...` : message

function byWeight(a: Condition, b: Condition): number {
  const weight = ({ type }: Condition) => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length)
  return weight(a) - weight(b) || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0)
}

function inventoryOf(entries: readonly InventoryEntry[]): Json {
  return { entries: entries.map(({ id, v }) => ({ id, v })) }
}

/** Times and counts aside, and how long health checks took: they alone are not worth a write. */
function same(before: Status, after: Status): boolean {
  return JSON.stringify(comparable(before)) === JSON.stringify(comparable(after))
}

function comparable(status: Status): Json {
  const { conditions: _conditions, history: _history, ...rest } = status
  const conditions = itemsAt(status, 'conditions').map(asCondition).sort(byWeight)
  const plain = conditions.map(({ type, status, reason, message }) => {
    // these two contain how long a health check took
    const isTimed = (type === 'Healthy' && status === 'True') || (type === 'Ready' && reason === 'HealthCheckFailed')
    return { type, status, reason, message: isTimed ? '' : message }
  })
  const sorted = Object.keys(rest).sort()
  return [plain, ...sorted.map(key => [key, key === 'inventory' ? entriesOf(rest[key]!) : rest[key]!])]
}

/** In any order: ours is sorted by id, and Flux's is that of applying. */
function entriesOf(inventory: Json): Json {
  return itemsAt(inventory, 'entries')
    .map(entry => `${stringAt(entry, 'id')} ${stringAt(entry, 'v')}`)
    .sort()
}

function withTimes(live: Json, before: Status, after: Status, now: Date): Status {
  const known = new Map(itemsAt(before, 'conditions').map(one => [stringAt(one, 'type'), one]))
  const generation = jsonAt(live, 'metadata', 'generation') ?? 0
  const conditions = itemsAt(after, 'conditions').map(json => {
    const condition = asCondition(json)
    const old = known.get(condition.type)
    if (!OWNED.includes(condition.type)) return old ?? json
    const unchanged = old !== undefined && JSON.stringify(asCondition(old)) === JSON.stringify(condition)
    const lastTransitionTime = unchanged ? stringAt(old, 'lastTransitionTime') : seconds(now)
    return { ...condition, lastTransitionTime, observedGeneration: generation }
  })
  return { ...after, conditions: conditions as Json }
}

/** An attempt that came as far as applying is a snapshot; one with the digest and the result of an older one replaces it. */
function withHistory(
  status: Status,
  { digest, revision, originRevision, durationMs, outcome }: ReconcileAttempt,
  now: Date,
): Json {
  const result =
    outcome.state === 'applied' ? 'ReconciliationSucceeded' : outcome.state === 'failed' ? outcome.reason : ''
  if (!['ReconciliationSucceeded', 'ReconciliationFailed', 'PruneFailed', 'HealthCheckFailed'].includes(result))
    return status
  const history = itemsAt(status, 'history')
  const isSame = (one: Json) => stringAt(one, 'digest') === digest && stringAt(one, 'lastReconciledStatus') === result
  const old = history.find(isSame)
  const total = jsonAt(old, 'totalReconciliations')
  const snapshot: Json = {
    digest,
    firstReconciled: stringAt(old, 'firstReconciled') || seconds(now),
    lastReconciled: seconds(now),
    lastReconciledDuration: goDuration(durationMs),
    lastReconciledStatus: result,
    metadata: { revision, ...(originRevision ? { originRevision } : {}) },
    totalReconciliations: typeof total === 'number' ? total + 1 : 1,
  }
  return { ...status, history: [snapshot, ...history.filter(one => one !== old)].slice(0, MAX_HISTORY) }
}

/** As Kubernetes writes times of objects. */
const seconds = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z')

/** Its objects are pruned before the API server lets it go. */
export const FINALIZER = 'finalizers.fluxcd.io'
const REQUESTED = 'reconcile.fluxcd.io/requestedAt'

/** `<namespace>/<name>`. */
export function keyOf(live: Json): string {
  return `${stringAt(live, 'metadata', 'namespace')}/${stringAt(live, 'metadata', 'name')}`
}

export const isTerminating = (live: Json): boolean => stringAt(live, 'metadata', 'deletionTimestamp') !== ''

export const hasFinalizer = (live: Json): boolean => itemsAt(live, 'metadata', 'finalizers').includes(FINALIZER)

/** It is suspended, in git or by `flux suspend`. */
export const isSuspended = (live: Json | undefined): boolean => jsonAt(live, 'spec', 'suspend') === true

/** A person suspended it, not git: `flux suspend`. What an apply of ours wrote alone ends with the next apply. */
export function isSuspendedByHand(live: Json | undefined): boolean {
  const entries = itemsAt(live, 'metadata', 'managedFields')
  return isSuspended(live) && !(entries.length > 0 && entries.every(isOurs))
}

/** The reconcile request that its status must echo (`flux reconcile`); '' without one. */
export const requestedAt = (live: Json): string => stringAt(live, 'metadata', 'annotations', REQUESTED)

/** There is a reconcile request that the status does not answer yet. */
export function isRequested(live: Json | undefined): boolean {
  const requested = live === undefined ? '' : requestedAt(live)
  return requested !== '' && requested !== stringAt(live, 'status', 'lastHandledReconcileAt')
}

/** The condition is there and True. */
export function isTrue(live: Json, type: string): boolean {
  const found = itemsAt(live, 'status', 'conditions').find(one => stringAt(one, 'type') === type)
  return stringAt(found, 'status') === 'True'
}

/** The reason of its Ready condition; '' where it has none. */
export function readyReason(live: Json): string {
  const found = itemsAt(live, 'status', 'conditions').find(one => stringAt(one, 'type') === 'Ready')
  return stringAt(found, 'reason')
}

/** What is on the cluster by its status. */
export function recordedEntries(live: Json | undefined): InventoryEntry[] {
  return itemsAt(live, 'status', 'inventory', 'entries').map(one => ({
    id: stringAt(one, 'id'),
    v: stringAt(one, 'v'),
  }))
}

/** Flux deletes what it has when it is deleted itself (finalizerShouldDeleteResources of kustomize-controller). */
export function endsWithObjects(live: Json): boolean {
  if (isSuspended(live)) return false
  const policy = stringAt(live, 'spec', 'deletionPolicy') || 'MirrorPrune'
  return policy === 'MirrorPrune' ? jsonAt(live, 'spec', 'prune') === true : policy !== 'Orphan'
}

/** The service account of its own namespace that it names; undefined where none is, or where it is for another cluster. */
export function ownAccount(live: Json): string | undefined {
  const name = stringAt(live, 'spec', 'serviceAccountName')
  if (name === '' || jsonAt(live, 'spec', 'kubeConfig') !== undefined) return undefined
  return `system:serviceaccount:${stringAt(live, 'metadata', 'namespace')}:${name}`
}

/** A duration as Go writes it (time.Duration.String): `0s`, `1.5ms`, `30s`, `9m30s`, `1h0m0s`. */
export function goDuration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds)
  if (ms === 0) return '0s'
  if (ms < 1_000) return `${trimmed(ms)}ms`
  const seconds = ms / 1_000
  const hours = Math.floor(seconds / 3_600)
  const minutes = Math.floor((seconds % 3_600) / 60)
  const rest = `${trimmed(seconds - hours * 3_600 - minutes * 60)}s`
  if (hours > 0) return `${hours}h${minutes}m${rest}`
  return minutes > 0 ? `${minutes}m${rest}` : rest
}

/** Microseconds are more than a clock of ours knows. */
const trimmed = (value: number): string => String(Number(value.toFixed(6)))
