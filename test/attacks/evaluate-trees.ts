import { type Assessment, assess } from '../../src/evaluate/verdict/assess.ts'
import { evaluateFleet } from '../../src/evaluate/verdict/evaluate-fleet.ts'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import { combinationOf } from '../../src/fleet/graph/combination.ts'
import type { Fleet } from '../../src/fleet/model/fleet.ts'
import type { FleetInput, OpaqueSource, SourceContent } from '../../src/fleet/model/input.ts'
import { retainOf } from '../../src/fleet/model/retain.ts'
import type { Tree } from '../../src/git/tree.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import type { Evaluation } from '../../src/rules/model/finding.ts'
import type { Repository } from './worlds/index.ts'

/** The day on which cases are evaluated. */
const TODAY = '2026-06-30'

type Trees = ReadonlyMap<Repository, Tree>
interface Complete {
  readonly input: FleetInput
  readonly fleet: Fleet
}

/** Evaluates a world, or its change; the first repository is the fleet. */
export function evaluateTrees(head: Trees, base?: Trees): Evaluation {
  const { input, fleet } = completed(head, base)
  const before = base && completed(base).fleet
  const options = { combination: combinationOf(input), today: TODAY }
  return evaluateFleet(fleet, { ...options, ...(before ? { base: before } : {}) }, assessed)
}

const fleets = new WeakMap<Trees, Map<Trees | undefined, Complete>>()
const assessments = new WeakMap<Fleet, Assessment>()

/** The same trees are evaluated several times: everything is built once. */
function completed(trees: Trees, config?: Trees): Complete {
  const known = fleets.get(trees) ?? new Map()
  fleets.set(trees, known)
  if (!known.has(config)) known.set(config, complete(trees, config))
  return known.get(config)!
}

function assessed(fleet: Fleet, before?: Fleet): Assessment {
  if (before) return assess(fleet, before)
  const known = assessments.get(fleet) ?? assess(fleet)
  assessments.set(fleet, known)
  return known
}

/** Asks for sources as the program does, until nothing is missing. */
function complete(trees: Trees, base: Trees | undefined): Complete {
  const [[first, tree], ...others] = [...trees] as [[Repository, Tree], ...[Repository, Tree][]]
  const config = base && [...base.values()][0]
  const fleet = { url: first.url, branch: first.branch, commit: '', tree }
  const sources: SourceContent[] = []
  const opaque: OpaqueSource[] = []
  for (;;) {
    const compared = config && base ? { config, retain: retainOf(completed(base).fleet) } : {}
    const input = { fleet, sources: [...sources], opaque: [...opaque], ...compared }
    const built = buildFleet(input)
    if (built.wanted.length === 0) return { input, fleet: built }
    for (const { url, ref } of built.wanted) {
      const found = others.find(([one]) => normaliseUrl(one.url) === url && one.branch === (ref.branch ?? ref.name))
      if (found) sources.push({ url, ref, commit: '', tree: found[1] })
      else opaque.push({ url, ref, reason: 'it is not part of this world' })
    }
  }
}
