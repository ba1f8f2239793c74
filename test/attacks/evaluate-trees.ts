import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import type { Fleet } from '../../src/fleet/model/fleet.ts'
import {
  type FleetInput,
  type OpaqueSource,
  retainOf,
  revisionSetOf,
  type SourceContent,
} from '../../src/fleet/model/input.ts'
import type { Tree } from '../../src/git/tree.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import type { Evaluation } from '../../src/rules/model/finding.ts'
import { type Assess, type Assessment, assess } from '../../src/verdict/assess.ts'
import { type EvaluateOptions, evaluateFleet } from '../../src/verdict/evaluate-fleet.ts'
import type { Repository } from './worlds/index.ts'

/** The day on which cases are evaluated. */
const TODAY = '2026-06-30'

type Trees = ReadonlyMap<Repository, Tree>

export interface Built {
  readonly input: FleetInput
  readonly fleet: Fleet
}

/** What builds and evaluates: a session, which is warm from the states before, or everything from scratch. */
interface Engine {
  build(input: FleetInput): Fleet
  evaluateFleet(head: Fleet, options: EvaluateOptions): Evaluation
}

const assessments = new WeakMap<Fleet, Assessment>()

/** One base is compared with many changes: it is assessed once. */
const fromScratch: Assess = (fleet, before) => {
  if (before) return assess(fleet, before)
  const known = assessments.get(fleet) ?? assess(fleet)
  assessments.set(fleet, known)
  return known
}

const scratch: Engine = {
  build: buildFleet,
  evaluateFleet: (head, options) => evaluateFleet(head, options, fromScratch),
}

/** Evaluates a world, or its change; the first repository is the fleet. */
export function evaluateTrees(head: Trees, base?: Trees, engine: Engine = scratch): Evaluation {
  const before = base && buildTrees(base, undefined, engine)
  return evaluateBuilt(buildTrees(head, before, engine), before, engine)
}

/** The evaluation of a built world, or of its change. */
export function evaluateBuilt({ input, fleet }: Built, base?: Built, engine: Engine = scratch): Evaluation {
  const revisionSet = revisionSetOf(input)
  return engine.evaluateFleet(fleet, { revisionSet, today: TODAY, ...(base ? { base: base.fleet } : {}) })
}

/** Asks for sources as the program does, until nothing is missing. */
export function buildTrees(trees: Trees, base?: Built, engine: Engine = scratch): Built {
  const [[first, tree], ...others] = [...trees] as [[Repository, Tree], ...[Repository, Tree][]]
  const fleet = { url: first.url, branch: first.branch, commit: '', tree }
  const compared = base ? { config: base.input.fleet.tree, retain: retainOf(base.fleet) } : {}
  const sources: SourceContent[] = []
  const opaque: OpaqueSource[] = []
  for (;;) {
    const input = { fleet, sources: [...sources], opaque: [...opaque], ...compared }
    const built = engine.build(input)
    if (built.wanted.length === 0) return { input, fleet: built }
    for (const { url, ref } of built.wanted) {
      const found = others.find(([one]) => normaliseUrl(one.url) === url && one.branch === (ref.branch ?? ref.name))
      if (found) sources.push({ url, ref, commit: '', tree: found[1] })
      else opaque.push({ url, ref, reason: 'it is not part of this world' })
    }
  }
}
