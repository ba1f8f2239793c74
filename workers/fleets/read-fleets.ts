import type { GatedBranch } from '../../src/fleet/model/fleet-config.ts'
import { withPresentNames } from '../../src/report/present-names.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { isPassing } from '../job-error.ts'
import { evaluateRevisionSet, type FollowedSource } from './evaluate-combination.ts'
import { SourceReader } from './source-reader.ts'

/** A fleet as it stands now, with every source that it reads. */
export interface StandingFleet {
  readonly place: FleetPlace
  readonly commit: string
  readonly sources: readonly FollowedSource[]
  /** Branches that its clusters follow or its file lists; absent where the fleet could not be built. */
  readonly gated?: readonly GatedBranch[]
  /** Repositories that a node which could not be rendered may lead to (see isNamed). */
  readonly hides: readonly string[]
  /** Nobody knows which repositories it reads besides. */
  readonly isDark: boolean
}

/**
 * The designated fleets of an installation as they stand now. One that cannot be read is left out, and logged; a GitHub that does
 * not answer throws.
 */
export async function readFleets(context: WorkerContext, installation: Installation): Promise<StandingFleet[]> {
  const { evaluator, disabledRules, log } = context
  const reader = new SourceReader(installation)
  const fleets: StandingFleet[] = []
  for (const place of (await installation.designation()).fleets) {
    try {
      const evaluated = await evaluateRevisionSet(evaluator, reader, { fleet: place, disabledRules })
      const { fleetCommit: commit, sources: read, evaluation, names, isDark } = evaluated
      const { gated } = withPresentNames({ gated: evaluated.gated }, names)
      const sources = read.map(source => ({ ...source, url: names.get(source.url) ?? source.url }))
      const hides = evaluation.nodes.flatMap(node => node.hides)
      fleets.push({ place, commit, sources, ...(gated ? { gated } : {}), hides, isDark })
    } catch (error) {
      if (isPassing(error)) throw error
      log.warn({ err: error, fleet: place.repository.url }, 'sources of a fleet could not be read')
    }
  }
  return fleets
}
