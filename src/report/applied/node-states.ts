import { redact } from '../../message/redact.ts'
import type { SourceLine } from '../../origin.ts'
import type { EvaluatedNode } from '../../rules/model/finding.ts'
import type { AppliedNode, AppliedObject } from '../apply-report.ts'
import type { NodePhase, NodeState } from './cluster-page.ts'

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

/** A node that is as it was is no news of this commit; neither is one that is in order when it is seen first. */
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
