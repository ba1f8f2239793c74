import { getHeapStatistics } from 'node:v8'
import { FleetSession, MAX_EARLIER } from '../../src/fleet/graph/fleet-session.ts'
import type { Fleet } from '../../src/fleet/model/fleet.ts'
import { type FleetInput, revisionSetOf } from '../../src/fleet/model/input.ts'
import type { WantedSource } from '../../src/fleet/model/source-ref.ts'
import type { WalkProgress } from '../../src/fleet/rendering/render-memory.ts'
import { openSnapshot, type Tree, type TreeSnapshot } from '../../src/git/tree.ts'
import { baselineOf } from '../../src/rules/model/baseline.ts'
import { policyCoverage } from '../../src/rules/policies/policy-coverage.ts'
import { TEXT_RULES } from '../../src/rules/text-rules.ts'
import { accessOverview } from '../../src/verdict/audit/access-overview.ts'
import { auditFleet } from '../../src/verdict/audit/audit-fleet.ts'
import { surveyFleet } from '../../src/verdict/audit/survey-fleet.ts'
import { plannedPrunes } from '../../src/verdict/change-prunes.ts'
import { changesOf } from '../../src/verdict/diff/changes-of.ts'
import {
  buildSides,
  type ComparedSets,
  EvaluateSession,
  evaluateSides,
  type ReadRevisionSet,
} from '../../src/verdict/evaluate-sides.ts'
import { followedBases } from '../../src/verdict/gated-branches.ts'
import type {
  EarlierSnapshot,
  EvaluateRequest,
  EvaluationAnswer,
  OverviewRequest,
  PinnedRepository,
  RevisionSetSnapshot,
  SurveyRequest,
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
    return { type: 'evaluated', evaluation, baseline: [], pinned, followed, isDark, gated: [], changes, prunes }
  }
  const baseline = [...baselineOf(input.fleet.tree, input.fleet.url).keys()]
  const gated = followedBases(head, { url: input.fleet.url, branch: input.fleet.branch })
  return { type: 'evaluated', evaluation, baseline, pinned, followed, isDark, gated }
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

/** What nodes follow as the platform declares it, on either side. */
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

/**
 * Audits the isolation of a fleet's tenants, and lists access rights and policy results. Cheap for a fleet that was just evaluated.
 */
export function overview({ head, from }: OverviewRequest, kept: KeptFleet): EvaluationAnswer {
  const { fleet } = buildKept(head, kept)
  if (fleet.wanted.length > 0) return { type: 'wanted', wanted: fleet.wanted, asked: [] }
  const names = fleet.clusters.map(({ name }) => name)
  const audit = from === 0 ? auditFleet(fleet, names) : []
  const policies = from === 0 ? policyCoverage(fleet, names) : []
  return { type: 'overviewed', audit, policies, access: accessOverview(fleet, from) }
}

/** Surveys a fleet that was just evaluated, or soon will be. */
export function survey({ head, today }: SurveyRequest, kept: KeptFleet): EvaluationAnswer {
  const { input, fleet } = buildKept(head, kept)
  if (fleet.wanted.length > 0) return { type: 'wanted', wanted: fleet.wanted, asked: [] }
  const { url, branch } = input.fleet
  return { type: 'surveyed', survey: surveyFleet(fleet, { url, branch }, { revisionSet: revisionSetOf(input), today }) }
}

function buildKept(head: RevisionSetSnapshot, kept: KeptFleet): { readonly input: FleetInput; readonly fleet: Fleet } {
  const { facts, ...read } = opened(kept, head)
  const input: FleetInput = { ...read, access: { facts } }
  kept.end()
  return { input, fleet: kept.session.build(input) }
}

/** The cache of one fleet between evaluations in a thread; it never changes a result. */
export class KeptFleet {
  readonly session = new EvaluateSession()
  /** For states before those that are evaluated. */
  readonly earlier = new FleetSession(MAX_EARLIER)
  /** Of this evaluation, and of the one before. */
  #trees = new Map<string, Tree>()
  #older: ReadonlyMap<string, Tree> = new Map()

  /** Opens a snapshot; the same content of the same repository is opened once. */
  open(url: string, snapshot: TreeSnapshot): Tree {
    const key = `${url} ${snapshot.id}`
    const tree = this.#trees.get(key) ?? this.#older.get(key) ?? openSnapshot(snapshot)
    this.#trees.set(key, tree)
    return tree
  }

  /** Ends an evaluation: trees that neither it nor the one before it read are forgotten. */
  end(): void {
    this.#older = this.#trees
    this.#trees = new Map()
  }
}

const MAX_FLEETS = 4
/** The share of the heap above which all caches are dropped, because an evaluation must never fail for them. */
const MAX_SHARE = 0.7

/** The caches of the fleets that a thread evaluated last, by address and branch. */
export class KeptFleets {
  readonly #kept = new Map<string, KeptFleet>()

  of({ url, branch }: { readonly url: string; readonly branch: string }): KeptFleet {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    if (used > limit * MAX_SHARE) this.#kept.clear()
    const key = JSON.stringify([url, branch])
    const fleet = this.#kept.get(key) ?? new KeptFleet()
    this.#kept.delete(key)
    this.#kept.set(key, fleet)
    for (const oldest of this.#kept.keys()) if (this.#kept.size > MAX_FLEETS) this.#kept.delete(oldest)
    return fleet
  }

  /** Drops the cache of a fleet, whose state is unknown after an unexpected error. */
  forget({ url, branch }: { readonly url: string; readonly branch: string }): void {
    this.#kept.delete(JSON.stringify([url, branch]))
  }
}
