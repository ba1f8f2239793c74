import type { PlannedPrune } from '../../src/approval/planned-prunes.ts'
import type { Changes } from '../../src/diff/changes.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { GatedBranch } from '../../src/fleet/model/fleet-config.ts'
import { withPresentNames } from '../../src/report/present-names.ts'
import type { Evaluation } from '../../src/rules/model/finding.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { RevisionSetSnapshot } from '../threads/protocol.ts'
import { type EvaluatedRevisionSet, evaluateRevisionSet } from './evaluate-combination.ts'
import { evaluatingFleets } from './evaluating-fleets.ts'
import { narrowerSources } from './narrower-sources.ts'
import { type Contributors, type Pin, SourceReader } from './source-reader.ts'

/** A commit that a branch has, gets or would get; `base` is what it would come in place of. */
export interface Change {
  readonly head: Pin
  readonly base?: Pin
  /** Who brought the head; absent: not known. */
  readonly people?: Contributors
  /** The base is gated: a check that passes lets it be merged. */
  readonly isGated?: true
}

/** What one fleet says about a change that it reads. */
export interface FleetAnswer {
  readonly place: FleetPlace
  /** Not designated: it evaluates, and reads, itself only. */
  readonly alone: boolean
  readonly fleetCommit: string
  readonly evaluation: Evaluation
  readonly snapshot: RevisionSetSnapshot
  /** Branches that its clusters follow or its file lists; empty with a base, absent where the fleet could not be built. */
  readonly gated?: readonly GatedBranch[]
  /** What the change does to what its clusters get; absent without a base. */
  readonly changes?: Changes
  /** What the change would have deleted; absent without a base. */
  readonly prunes?: readonly PlannedPrune[]
  /** Sources of it that fewer people can see than the repository of the change: their text is not published there. */
  readonly narrower: readonly string[]
  /** Which repositories it reads is unknown: it, or a part of it, could not be built. */
  readonly isDark: boolean
}

/**
 * Evaluates a change in every designated fleet that reads the branch, and in the change's own repository where that looks
 * like a fleet; empty: nothing of a fleet is touched.
 */
export async function evaluateChange(
  context: WorkerContext,
  installation: Installation,
  change: Change,
): Promise<FleetAnswer[]> {
  const { disabledRules, evaluator } = context
  const reader = new SourceReader(installation)
  const answers: FleetAnswer[] = []
  let isDark = false
  let isTooLarge: BailiwickError | undefined
  for (const { place, alone, unread } of await evaluatingFleets(installation, change.head.url)) {
    // what a repository finds in itself adds nothing to what designated fleets say of it: not a name either
    if (alone && answers.length > 0) continue
    isTooLarge = unread
    if (unread) continue
    const { url } = place.repository
    const evaluated = await evaluateRevisionSet(evaluator, alone ? new SourceReader(installation, url) : reader, {
      fleet: place,
      ...change,
      disabledRules,
    })
    const { concerned, fleetCommit, snapshot, sources, names } = evaluated
    const isUnknown = evaluated.isDark && !alone
    isDark ||= isUnknown
    if (!concerned) continue
    const { evaluation, gated, changes, prunes } = withPresentNames(pick(evaluated), names)
    const more = { ...(gated ? { gated } : {}), ...(changes ? { changes } : {}), ...(prunes ? { prunes } : {}) }
    const read = sources.flatMap(source => ('tree' in source ? [names.get(source.url) ?? source.url] : []))
    const present = await narrowerSources(installation, change.head.url, [...read, url])
    const earlier = [...names].flatMap(([name, now]) => (present.includes(now) ? [name] : []))
    const narrower = [...present, ...earlier]
    answers.push({ place, alone, fleetCommit, evaluation, snapshot, narrower, isDark: isUnknown, ...more })
  }
  if (answers.length === 0 && isDark && change.isGated) throw unknownReader()
  if (isTooLarge && change.isGated) throw isTooLarge
  return answers
}

/** Which fleet it is stays with those who may read it. */
function unknownReader(): BailiwickError {
  const what = 'A fleet could only partly be rendered, so it is unknown whether it deploys this repository'
  return new BailiwickError('source-unreadable', what, {
    fix: 'Ask a fleet admin to fix the evaluation errors of the fleet.',
  })
}

const pick = ({ evaluation, gated, changes, prunes }: EvaluatedRevisionSet) => ({
  ...{ evaluation, gated, changes, prunes },
})
