import { plannedPrunes } from '../../src/approval/planned-prunes.ts'
import { changesOf } from '../../src/diff/changes-of.ts'
import {
  buildSides,
  type ComparedSets,
  evaluateSides,
  type ReadRevisionSet,
} from '../../src/evaluate/incremental/evaluate-sides.ts'
import type { Fleet } from '../../src/fleet/model/fleet.ts'
import type { WantedSource } from '../../src/fleet/model/source-ref.ts'
import type { WalkProgress } from '../../src/fleet/rendering/work.ts'
import { followedBases } from '../../src/gate/followed-bases.ts'
import { baselineOf } from '../../src/rules/model/baseline.ts'
import { TEXT_RULES } from '../../src/rules/text-rules.ts'
import { KeptFleet } from './kept-fleet.ts'
import type {
  EarlierSnapshot,
  EvaluateRequest,
  EvaluationAnswer,
  PinnedRepository,
  RevisionSetSnapshot,
} from './protocol.ts'

/**
 * Renders and evaluates a revision set, and the base that it is compared with, or returns the sources that are still
 * missing. With a base, the result is for reports and is never applied: it lists changes instead of objects. Without
 * one, findings in the fleet's baseline file are existing. Caches only save work.
 */
export function evaluate(
  request: EvaluateRequest,
  kept = new KeptFleet(),
  onProgress?: (progress: WalkProgress) => void,
  running: (key: string) => void = () => {},
): EvaluationAnswer {
  const { session } = kept
  session.watch = { running, stopped: new Set(request.stopped) }
  const built = buildSides(kept, setsOf(kept, request), onProgress)
  kept.end()
  const { input, head, base, isOpen } = built
  const wanted = unique([...head.wanted, ...(base?.wanted ?? [])])
  const asked = [...(head.asked ?? []), ...(base?.asked ?? [])]
  const pinned = pinnedOf(head)
  if (wanted.length > 0 || asked.length > 0) return { type: 'wanted', wanted, asked, pinned }
  if (isOpen && !request.earlier?.isAll) return { type: 'wanted', wanted, asked, pinned, earlier: true }
  const followed = unique([...followedOf(head), ...(base ? followedOf(base) : [])])
  const isDark = head.nodes.some(node => node.unknown && node.objects.length === 0)
  const evaluation = evaluateSides(kept, built, request)
  if (base) {
    const changes = changesOf(base, head)
    const prunes = plannedPrunes(base, head)
    return { type: 'judged', evaluation, baseline: [], pinned, followed, isDark, gated: [], changes, prunes }
  }
  const baseline = [...baselineOf(input.fleet.tree, input.fleet.url).keys()]
  const gated = followedBases(head, { url: input.fleet.url, branch: input.fleet.branch })
  return { type: 'judged', evaluation, baseline, pinned, followed, isDark, gated }
}

function setsOf(kept: KeptFleet, { head, base, changed, earlier, values }: EvaluateRequest): ComparedSets {
  const open = (snapshot: RevisionSetSnapshot): ReadRevisionSet => {
    const disabledRules = [...snapshot.disabledRules, ...TEXT_RULES]
    return { ...opened(kept, snapshot), ...(values === undefined ? {} : { values, disabledRules }) }
  }
  const { url } = (base ?? head).fleet
  const state = ({ commit, tree }: EarlierSnapshot) => ({ commit, tree: kept.open(url, tree) })
  return {
    head: open(head),
    ...(base ? { base: open(base) } : {}),
    earlier: { states: earlier?.states.map(state) ?? [], isAll: earlier?.isAll ?? false },
    ...(changed === undefined ? {} : { changed }),
  }
}

/** What nodes follow by the platform's word, on either side. */
function followedOf({ nodes }: Fleet): WantedSource[] {
  return nodes
    .flatMap(({ source, charts = [] }) => [source, ...(source.includes ?? []), ...charts])
    .flatMap(({ url, ref, lent }) => (lent || url === '' ? [] : [{ url, ref }]))
}

function opened(kept: KeptFleet, snapshot: RevisionSetSnapshot): ReadRevisionSet {
  return {
    fleet: { ...snapshot.fleet, tree: kept.open(snapshot.fleet.url, snapshot.fleet.tree) },
    sources: snapshot.sources.map(source => ({ ...source, tree: kept.open(source.url, source.tree) })),
    opaque: snapshot.opaque,
    facts: snapshot.facts,
    disabledRules: snapshot.disabledRules,
    registries: snapshot.registries,
  }
}

/** The pinned repositories that nodes of their tenant read. */
function pinnedOf({ config, nodes }: Fleet): PinnedRepository[] {
  const pinned = nodes.flatMap(({ tenant, source: { url } }) => {
    const id = config.tenants.get(tenant ?? '')?.repositories.get(url)
    return id === undefined ? [] : [{ url, id }]
  })
  return [...new Map(pinned.map(one => [JSON.stringify([one.url, one.id]), one])).values()]
}

function unique(wanted: readonly WantedSource[]): WantedSource[] {
  const byKey = new Map(wanted.map(source => [JSON.stringify([source.url, source.ref]), source]))
  return [...byKey.values()]
}
