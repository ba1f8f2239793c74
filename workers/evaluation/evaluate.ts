import { combinationOf } from '../../src/fleet/combination.ts'
import type { FleetInput, WantedSource } from '../../src/fleet/input.ts'
import { changesOf } from '../../src/report/changes/changes-of.ts'
import { baselineOf } from '../../src/rules/verdict/baseline.ts'
import { KeptFleet } from './kept-fleet.ts'
import { leanJudgement } from './lean-judgement.ts'
import type { CombinationSnapshot, EvaluationAnswer, JudgeRequest } from './protocol.ts'

/**
 * Renders one combination (and the one that it is compared with) and judges it; or says which sources it still needs.
 * With a base, nothing of the answer is applied: it says what changes in place of every object. Without one, what the
 * fleet's own baseline file lists is standing. What is kept of the fleet spares work only.
 */
export function evaluate(request: JudgeRequest, kept = new KeptFleet()): EvaluationAnswer {
  const { session } = kept
  const before = request.base && open(kept, request.base)
  const input: FleetInput = { ...open(kept, request.head), ...(before ? { config: before.fleet.tree } : {}) }
  kept.end()
  const base = before && session.build(before)
  const head = session.build(input)
  const wanted = unique([...head.wanted, ...(base?.wanted ?? [])])
  if (wanted.length > 0) return { type: 'wanted', wanted }
  const combination = combinationOf(input)
  const { today } = request
  const when = { combination, today, ...(request.changed === undefined ? {} : { changed: request.changed }) }
  if (base) {
    const judgement = leanJudgement(session.judge(head, { base, ...when }), head, request.changed)
    return { type: 'judged', judgement, baseline: [], changes: changesOf(base, head) }
  }
  const baseline = baselineOf(input.fleet.tree, input.fleet.url)
  return { type: 'judged', judgement: session.judge(head, { baseline, ...when }), baseline: [...baseline.keys()] }
}

function open(kept: KeptFleet, snapshot: CombinationSnapshot): FleetInput {
  return {
    fleet: { ...snapshot.fleet, tree: kept.open(snapshot.fleet.url, snapshot.fleet.tree) },
    sources: snapshot.sources.map(source => ({ ...source, tree: kept.open(source.url, source.tree) })),
    opaque: snapshot.opaque,
    disabledRules: snapshot.disabledRules,
  }
}

function unique(wanted: readonly WantedSource[]): WantedSource[] {
  const byKey = new Map(wanted.map(source => [JSON.stringify([source.url, source.ref]), source]))
  return [...byKey.values()]
}
