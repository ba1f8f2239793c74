import { ENGINE_VERSION } from '../../src/fleet/model/engine-version.ts'
import type { NamedCheck } from '../../src/gate/check-names.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import { isForBases, isUndecidedId, versionOfExternalId } from '../../src/report/external-id.ts'

/**
 * The state of a verdict. `missing`: there is none, or an outage prevented it. `old`: a dependency was evaluated since.
 * `slowly`: only the version of engine and rules differs; the old verdict counts until its turn comes.
 */
export type Staleness = 'missing' | 'old' | 'slowly' | 'fresh'

/** `since`: when what the verdict depends on was last evaluated itself, in ms; a verdict begun before may be older than it. */
export function stalenessOf(run: OurCheckRun | undefined, since = 0): Staleness {
  const id = run?.externalId ?? ''
  if (run?.status !== 'completed' || isUndecidedId(id)) return 'missing'
  if (begun(run) < since) return 'old'
  return versionOfExternalId(id) === ENGINE_VERSION ? 'fresh' : 'slowly'
}

/** When a verdict was started, in ms; 0 if GitHub does not show it. */
export function begun(run: OurCheckRun | undefined): number {
  return run?.startedAt ? Date.parse(run.startedAt) || 0 : 0
}

const URGENCY: readonly Staleness[] = ['fresh', 'slowly', 'old', 'missing']

/**
 * The most urgent state among the checks of a pull request, with its run. A check for other bases counts as missing.
 */
export function stalenessOfChecks(
  checks: readonly NamedCheck[],
  runs: readonly OurCheckRun[],
  since = 0,
): { readonly staleness: Staleness; readonly run?: OurCheckRun | undefined } {
  const each = checks.map(check => {
    const run = runs.find(one => one.name === check.name)
    const isOther = run?.status === 'completed' && !isForBases(run.externalId, check)
    return { run, staleness: isOther ? 'missing' : stalenessOf(run, since) } as const
  })
  return each.reduce((most, one) => (URGENCY.indexOf(one.staleness) > URGENCY.indexOf(most.staleness) ? one : most), {
    staleness: 'fresh',
    run: undefined,
  })
}
