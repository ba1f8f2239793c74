import { plannedPrunes } from '../../src/approval/planned-prunes.ts'
import { changesOf } from '../../src/diff/changes-of.ts'
import { buildWithEarlier, type EarlierStates } from '../../src/fleet/graph/build-with-earlier.ts'
import { combinationOf } from '../../src/fleet/graph/combination.ts'
import type { Fleet, FleetNode } from '../../src/fleet/model/fleet.ts'
import type { FleetInput } from '../../src/fleet/model/input.ts'
import { retainOf } from '../../src/fleet/model/retain.ts'
import type { WantedSource } from '../../src/fleet/model/source-ref.ts'
import type { WalkProgress } from '../../src/fleet/rendering/work.ts'
import { followedBases } from '../../src/gate/followed-bases.ts'
import { acceptedBy, baselineOf } from '../../src/rules/model/baseline.ts'
import { TEXT_RULES } from '../../src/rules/text-rules.ts'
import { KeptFleet } from './kept-fleet.ts'
import { leanEvaluation } from './lean-evaluation.ts'
import type {
  CombinationSnapshot,
  EarlierSnapshot,
  EvaluateRequest,
  EvaluationAnswer,
  PinnedRepository,
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
  const sides = { kept, request, onProgress }
  let built = buildSides(sides, undefined)
  // what only a tenant's declaration leads to is not evaluated by a change of that repository: its result is the tenant's
  const isLent = (one: Fleet | undefined) => one?.nodes.some(node => isLentFrom(node, request.changed))
  if (isLent(built.head) || isLent(built.base)) built = buildSides(sides, request.changed)
  kept.end()
  const { input, head, base, isOpen } = built
  const wanted = unique([...head.wanted, ...(base?.wanted ?? [])])
  const asked = [...(head.asked ?? []), ...(base?.asked ?? [])]
  const pinned = pinnedOf(head)
  if (wanted.length > 0 || asked.length > 0) return { type: 'wanted', wanted, asked, pinned }
  if (isOpen && !request.earlier?.isAll) return { type: 'wanted', wanted, asked, pinned, earlier: true }
  const followed = unique([...followedOf(head), ...(base ? followedOf(base) : [])])
  const isDark = head.nodes.some(node => node.unknown && node.objects.length === 0)
  const combination = combinationOf(input)
  const { today } = request
  const when = { combination, today, ...(request.changed === undefined ? {} : { changed: request.changed }) }
  if (base) {
    const baseline = acceptedBy(input.fleet.tree, input.fleet.url)
    const evaluation = leanEvaluation(session.evaluateFleet(head, { base, baseline, ...when }), head, request.changed)
    const changes = changesOf(base, head)
    const prunes = plannedPrunes(base, head)
    return { type: 'judged', evaluation, baseline: [], pinned, followed, isDark, gated: [], changes, prunes }
  }
  const baseline = baselineOf(input.fleet.tree, input.fleet.url)
  const evaluation = session.evaluateFleet(head, { baseline, ...when })
  const gated = followedBases(head, { url: input.fleet.url, branch: input.fleet.branch })
  return { type: 'judged', evaluation, baseline: [...baseline.keys()], pinned, followed, isDark, gated }
}

interface Sides {
  readonly kept: KeptFleet
  readonly request: EvaluateRequest
  readonly onProgress: ((progress: WalkProgress) => void) | undefined
}

/** The fleet before and after: what may be read is decided by what it declares before. */
function buildSides({ kept, request, onProgress }: Sides, withheld: string | undefined) {
  const side = (snapshot: CombinationSnapshot, from?: Fleet): FleetInput => {
    const base = from?.access ? { base: from.access } : {}
    const access = { facts: snapshot.facts, ...base, ...(withheld === undefined ? {} : { withheld }) }
    const { values } = request
    const known = values === undefined ? {} : { values, disabledRules: [...snapshot.disabledRules, ...TEXT_RULES] }
    return { ...open(kept, snapshot), access, ...known }
  }
  const whole = (input: FleetInput) => {
    const build = (one: FleetInput) => kept.session.build(one, onProgress)
    return buildWithEarlier(build, input, earlierOf(kept, request), one => kept.earlier.build(one))
  }
  if (!request.base) {
    const { fleet: head, ...built } = whole(side(request.head))
    return { ...built, head, base: undefined }
  }
  const before = side(request.base)
  const { fleet: base, isOpen } = whole(before)
  const input = { ...side(request.head, base), config: before.fleet.tree, retain: retainOf(base) }
  return { input, head: kept.session.build(input, onProgress), base, isOpen }
}

function earlierOf(kept: KeptFleet, { head, base = head, earlier }: EvaluateRequest): EarlierStates {
  const open = ({ commit, tree }: EarlierSnapshot) => ({ commit, tree: kept.open(base.fleet.url, tree) })
  return { states: earlier?.states.map(open) ?? [], isAll: earlier?.isAll ?? false }
}

function isLentFrom(node: FleetNode, url: string | undefined): boolean {
  return partsOf(node).some(one => one.lent === true && one.url === url)
}

/** What nodes follow by the platform's word, on either side. */
function followedOf({ nodes }: Fleet): WantedSource[] {
  return nodes.flatMap(partsOf).flatMap(({ url, ref, lent }) => (lent || url === '' ? [] : [{ url, ref }]))
}

const partsOf = ({ source, charts = [] }: FleetNode) => [source, ...(source.includes ?? []), ...charts]

function open(kept: KeptFleet, snapshot: CombinationSnapshot): FleetInput {
  return {
    fleet: { ...snapshot.fleet, tree: kept.open(snapshot.fleet.url, snapshot.fleet.tree) },
    sources: snapshot.sources.map(source => ({ ...source, tree: kept.open(source.url, source.tree) })),
    opaque: snapshot.opaque,
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
