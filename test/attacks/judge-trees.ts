import { buildFleet } from '../../src/fleet/build-fleet.ts'
import { combinationOf } from '../../src/fleet/combination.ts'
import type { FleetInput, OpaqueSource, SourceContent } from '../../src/fleet/input.ts'
import type { Tree } from '../../src/git/tree.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import type { Judgement } from '../../src/rules/finding.ts'
import { judge } from '../../src/rules/judge.ts'
import type { Repository } from './worlds/index.ts'

/** The day on which cases are judged. */
export const TODAY = '2026-06-30'

/** Judges a world, or its change; the first repository is the fleet. */
export function judgeTrees(head: ReadonlyMap<Repository, Tree>, base?: ReadonlyMap<Repository, Tree>): Judgement {
  const input = complete(head, base)
  const before = base && buildFleet(complete(base))
  const options = { combination: combinationOf(input), today: TODAY }
  return judge(buildFleet(input), { ...options, ...(before ? { base: before } : {}) })
}

/** Asks for sources as the program does, until nothing is missing. */
function complete(trees: ReadonlyMap<Repository, Tree>, base?: ReadonlyMap<Repository, Tree>): FleetInput {
  const [[first, tree], ...others] = [...trees] as [[Repository, Tree], ...[Repository, Tree][]]
  const config = base && [...base.values()][0]
  const fleet = { url: first.url, branch: first.branch, commit: '', tree }
  const sources: SourceContent[] = []
  const opaque: OpaqueSource[] = []
  for (;;) {
    const input = { fleet, sources: [...sources], opaque: [...opaque], ...(config ? { config } : {}) }
    const { wanted: missing } = buildFleet(input)
    if (missing.length === 0) return input
    for (const { url, ref } of missing) {
      const found = others.find(([one]) => normaliseUrl(one.url) === url && one.branch === (ref.branch ?? ref.name))
      if (found) sources.push({ url, ref, commit: '', tree: found[1] })
      else opaque.push({ url, ref, reason: 'it is not part of this world' })
    }
  }
}
