import type { SourceLine } from '../base/origin.ts'
import { redact } from '../base/visible.ts'
import type { EvaluatedNode } from '../rules/model/finding.ts'
import type { AppliedNode, AppliedObject, DriftNote } from './apply-report.ts'
import type { PagePlace } from './outcome.ts'

/** How far a Kustomization has come: `pending` has no result of the present run yet, `waiting` has health checks that run. */
export type NodePhase = 'pending' | 'applied' | 'waiting' | 'held' | 'failed'

/** One Kustomization on a cluster, without secret values. */
export interface NodeState {
  readonly key: string
  /** Who it was applied as. */
  readonly user: string
  readonly phase: NodePhase
  readonly reason?: string
  /** Address of the repository that its content comes from, and the commit. */
  readonly repository: string
  readonly commit: string
  /** Of its evaluated objects. */
  readonly digest: string
  /** The commit that brought it to this phase; '' if it was in it when the worker looked at it first. */
  readonly since: string
  /** ISO time of the last apply that wrote something, as far as a worker remembers it. */
  readonly appliedAt?: string
  /** ISO time of the next attempt after a failure. */
  readonly retryAt?: string
  /** How many objects, by what was done to them. */
  readonly counts: Readonly<Partial<Record<AppliedObject['action'], number>>>
  /** What was done by this commit, refused objects first; not all of them. */
  readonly objects: readonly AppliedObject[]
  /** Where its Kustomization is written. */
  readonly place?: SourceLine
  /** Of a failure: files and directories of `repository` that it reads. */
  readonly paths?: readonly string[]
}

/**
 * What the page of a cluster shows to the readers of one repository: all Kustomizations to those of the fleet's, their own
 * to others. Plain JSON.
 */
export interface ClusterPage extends Required<PagePlace> {
  readonly kind: 'cluster'
  readonly repository: string
  readonly cluster: string
  /** The worker is applying. */
  readonly isRunning: boolean
  /** Why the last run ended before its end. */
  readonly problem?: string
  readonly nodes: readonly NodeState[]
  /** Of these nodes: what others changed on the cluster and the worker put back, the latest first. */
  readonly drift: readonly DriftNote[]
}

/** How many objects of a node a page and a comment list. */
const MAX_OBJECTS = 20
const MAX_REASON = 2_000
/** How many files of a failed node are looked up for their authors. */
const MAX_PATHS = 3

interface StateFacts {
  /** Address of the repository whose readers are shown it. */
  readonly here: string
  /** What was evaluated of it; absent for a node that git no longer has. */
  readonly node: EvaluatedNode | undefined
  readonly repository: string
  readonly commit: string
  /** ISO time. */
  readonly now: string
  readonly retryAt?: string | undefined
}

/**
 * The state of a node after a run, or during one that has not come to it (`applied` absent). What an earlier run of the same
 * commit did stays listed: a later run of it changes nothing. Secret values are left out.
 */
export function nodeState(
  key: string,
  applied: AppliedNode | undefined,
  { here, node, repository, commit, now, retryAt }: StateFacts,
  before: NodeState | undefined,
): NodeState {
  const phase = applied ? phaseOf(applied) : 'pending'
  const digest = node?.digest ?? ''
  const source = { key, user: applied?.user ?? node?.user ?? '', repository, commit, digest }
  const isSame = before !== undefined && before.digest === digest
  if (!applied) return { ...source, phase, since: sinceOf(phase, before, source), ...NOTHING, ...remembered(before) }
  // fewer people may read the lines of a third repository
  const isShown = (place: SourceLine) => place.repository === here || place.repository === repository
  const changed = applied.objects.filter(({ action }) => !isIdle(action))
  const isKept = isSame && before.commit === commit && changed.length === 0
  const appliedAt = changed.length > 0 ? now : before?.appliedAt
  const reason = applied.reason === undefined ? undefined : redact(applied.reason).slice(0, MAX_REASON)
  return {
    ...source,
    phase,
    since: changed.length > 0 && phase === 'applied' ? commit : sinceOf(phase, before, source),
    counts: isKept ? before.counts : countsOf(applied.objects),
    objects: isKept
      ? before.objects
      : changed
          .sort(byWeight)
          .slice(0, MAX_OBJECTS)
          .map(item => safe(item, isShown)),
    ...(reason === undefined ? {} : { reason }),
    ...(appliedAt === undefined ? {} : { appliedAt }),
    ...(retryAt === undefined ? {} : { retryAt }),
    ...(applied.place && isShown(applied.place) ? { place: applied.place } : {}),
    ...(phase === 'failed' && node ? { paths: pathsOf(applied, node) } : {}),
  }
}

const remembered = (before: NodeState | undefined) =>
  before?.appliedAt === undefined ? {} : { appliedAt: before.appliedAt }

const NOTHING = { counts: {}, objects: [] } as const

function phaseOf({ outcome, reason, objects }: AppliedNode): NodePhase {
  if (outcome === 'failed' || objects.some(({ action }) => action === 'refused')) return 'failed'
  if (outcome === 'held') return 'held'
  return reason === undefined ? 'applied' : 'waiting'
}

/** An unchanged node is not listed for this commit; neither is one that is in order when it is seen first. */
function sinceOf(
  phase: NodePhase,
  before: NodeState | undefined,
  { commit, digest }: Pick<NodeState, 'commit' | 'digest'>,
) {
  if (before?.phase === phase && before.digest === digest) return before.since
  return before === undefined && phase === 'applied' ? '' : commit
}

const isIdle = (action: AppliedObject['action']): boolean => action === 'unchanged' || action === 'skipped'

const ORDER: readonly AppliedObject['action'][] = ['refused', 'withheld', 'pruned', 'created', 'configured']

const byWeight = (a: AppliedObject, b: AppliedObject): number => ORDER.indexOf(a.action) - ORDER.indexOf(b.action)

function safe(
  { message, place, fields, ...item }: AppliedObject,
  isShown: (place: SourceLine) => boolean,
): AppliedObject {
  const shown = fields?.flatMap(({ field, place: at }) =>
    at && isShown(at) ? [{ field: redact(field, item.object), place: at }] : [],
  )
  return {
    ...item,
    ...(shown?.length ? { fields: shown } : {}),
    ...(message === undefined ? {} : { message: redact(message, item.object).slice(0, MAX_REASON) }),
    ...(place && isShown(place) ? { place } : {}),
  }
}

function countsOf(objects: readonly AppliedObject[]): NodeState['counts'] {
  const counts: Partial<Record<AppliedObject['action'], number>> = {}
  for (const { action } of objects) counts[action] = (counts[action] ?? 0) + 1
  return counts
}

/** Lines of other repositories have other authors. */
function pathsOf({ objects }: AppliedNode, { source, path = '' }: EvaluatedNode): string[] {
  const places = objects.flatMap(({ place, fields = [] }) => [...fields.map(one => one.place), place])
  const files = places.flatMap(place => (place?.repository === source.url ? [place.file] : []))
  return [...new Set([...[...new Set(files)].slice(0, MAX_PATHS), path.replace(/^\.?\//, '')])]
}
