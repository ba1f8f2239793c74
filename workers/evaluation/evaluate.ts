import { buildFleet } from '../../src/fleet/build-fleet.ts'
import { combinationOf } from '../../src/fleet/combination.ts'
import type { FleetInput, WantedSource } from '../../src/fleet/input.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import { baselineOf } from '../../src/rules/baseline.ts'
import { judge } from '../../src/rules/judge.ts'
import type { CombinationSnapshot, EvaluationAnswer, JudgeRequest } from './protocol.ts'

/**
 * Renders one combination (and the one that it is compared with) and judges it; or says which sources it still needs.
 * Without a base, what the fleet's own baseline file lists is standing.
 */
export function evaluate(request: JudgeRequest): EvaluationAnswer {
  const before = request.base && open(request.base)
  const input: FleetInput = { ...open(request.head), ...(before ? { config: before.fleet.tree } : {}) }
  const head = buildFleet(input)
  const base = before && buildFleet(before)
  const wanted = unique([...head.wanted, ...(base?.wanted ?? [])])
  if (wanted.length > 0) return { type: 'wanted', wanted }
  const combination = combinationOf(input)
  const { today } = request
  const when = { combination, today, ...(request.changed === undefined ? {} : { changed: request.changed }) }
  if (base) return { type: 'judged', judgement: judge(head, { base, ...when }), baseline: [] }
  const baseline = baselineOf(input.fleet.tree, input.fleet.url)
  return { type: 'judged', judgement: judge(head, { baseline, ...when }), baseline: [...baseline.keys()] }
}

function open(snapshot: CombinationSnapshot): FleetInput {
  return {
    fleet: { ...snapshot.fleet, tree: openSnapshot(snapshot.fleet.tree) },
    sources: snapshot.sources.map(source => ({ ...source, tree: openSnapshot(source.tree) })),
    opaque: snapshot.opaque,
    disabledRules: snapshot.disabledRules,
  }
}

function unique(wanted: readonly WantedSource[]): WantedSource[] {
  const byKey = new Map(wanted.map(source => [JSON.stringify([source.url, source.ref]), source]))
  return [...byKey.values()]
}
