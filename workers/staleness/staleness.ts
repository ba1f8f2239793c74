import { ENGINE_VERSION } from '../../src/fleet/engine-version.ts'
import type { OurCheckRun } from '../../src/github/list-check-runs.ts'
import { CHECK_NAME } from '../../src/report/check-run.ts'
import { isUndecidedId, versionOfExternalId } from '../../src/report/external-id.ts'

/**
 * What to do about a verdict. `missing`: there is none, or an outage kept us from it. `old`: what it depends on was judged
 * since. `slowly`: only the version of engine and rules is another one; the old verdict is honoured until its turn comes.
 */
export type Staleness = 'missing' | 'old' | 'slowly' | 'fresh'

/** The run that counts on a commit, of all of ours there: the last one of the gate's name. */
export function verdictRun(runs: readonly OurCheckRun[]): OurCheckRun | undefined {
  return runs.findLast(run => run.name === CHECK_NAME)
}

/** `since`: when what the verdict depends on was last judged itself, in ms; a verdict begun before may be older than it. */
export function stalenessOf(run: OurCheckRun | undefined, since = 0): Staleness {
  const id = run?.externalId ?? ''
  if (run?.status !== 'completed' || isUndecidedId(id)) return 'missing'
  if (begun(run) < since) return 'old'
  return versionOfExternalId(id) === ENGINE_VERSION ? 'fresh' : 'slowly'
}

/** When a verdict was begun, in ms; 0 where GitHub does not say. */
export function begun(run: OurCheckRun | undefined): number {
  return run?.startedAt ? Date.parse(run.startedAt) || 0 : 0
}
