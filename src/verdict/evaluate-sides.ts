import { type Work, work, workSince } from '../base/work.ts'
import { buildWithEarlier, type EarlierStates, FleetSession } from '../fleet/graph/fleet-session.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { type FleetInput, retainOf, revisionSetOf } from '../fleet/model/input.ts'
import type { RepositoryFact } from '../fleet/model/source-access.ts'
import type { WalkProgress, Watch } from '../fleet/rendering/render-memory.ts'
import { acceptedBy, baselineOf } from '../rules/model/baseline.ts'
import type { Evaluation } from '../rules/model/finding.ts'
import { Assessor } from './assessor.ts'
import { type EvaluateOptions, evaluateFleet } from './evaluate-fleet.ts'
import { leanEvaluation } from './verdict-views.ts'

/** A revision set as it was read: what may be read was decided by the facts. */
export interface ReadRevisionSet extends Pick<FleetInput, 'fleet' | 'sources' | 'opaque' | 'values'> {
  readonly facts: readonly RepositoryFact[]
  readonly disabledRules: readonly string[]
  readonly registries: readonly string[]
}

/** A revision set, and the one that it is compared with. */
export interface ComparedSets {
  readonly head: ReadRevisionSet
  readonly base?: ReadRevisionSet
  /** Of the fleet's repository, before `base`, or before `head` without one. */
  readonly earlier: EarlierStates
  /** Address of the repository that the change is in, where it is not the fleet on its branch. */
  readonly changed?: string
}

/** Both, built. */
interface BuiltSides {
  readonly input: FleetInput
  readonly head: Fleet
  readonly base: Fleet | undefined
  /** Commits since which nodes of the followed branch do not build. */
  readonly since: ReadonlyMap<string, string> | undefined
  /** Some node builds in none of the earlier states: more of them are needed. */
  readonly isOpen: boolean
}

/** What keeps renderings between two evaluations; they only save work. */
interface Sessions {
  readonly session: EvaluateSession
  /** For states before those that are evaluated. */
  readonly earlier: FleetSession
}

type OnProgress = ((progress: WalkProgress) => void) | undefined

/**
 * The fleet before and after: what may be read is decided by what it declares before. What only a tenant's declaration leads
 * to is not evaluated by a change of that repository: its result is the tenant's.
 */
export function buildSides(sessions: Sessions, sets: ComparedSets, onProgress?: OnProgress): BuiltSides {
  const built = buildBoth(sessions, sets, undefined, onProgress)
  const isLent = (one: Fleet | undefined) => one?.nodes.some(node => isLentFrom(node, sets.changed))
  return isLent(built.head) || isLent(built.base) ? buildBoth(sessions, sets, sets.changed, onProgress) : built
}

/**
 * The evaluation of built sides. With a base it is for reports and is never applied, so it has objects by name only; without
 * one, findings in the fleet's baseline file are existing.
 */
export function evaluateSides(
  { session }: Sessions,
  { input, head, base, since }: BuiltSides,
  { changed, today }: { readonly changed?: string | undefined; readonly today: string },
): Evaluation {
  const revisionSet = revisionSetOf(input)
  const when = { revisionSet, today, since, ...(changed === undefined ? {} : { changed }) }
  const { tree, url } = input.fleet
  if (!base) return session.evaluateFleet(head, { baseline: baselineOf(tree, url), ...when })
  const evaluation = session.evaluateFleet(head, { base, baseline: acceptedBy(tree, url), ...when })
  return leanEvaluation(evaluation, head, changed)
}

function buildBoth(
  { session, earlier }: Sessions,
  sets: ComparedSets,
  withheld: string | undefined,
  onProgress: OnProgress,
): BuiltSides {
  const whole = (input: FleetInput) => {
    const build = (one: FleetInput) => session.build(one, onProgress)
    return buildWithEarlier(build, input, sets.earlier, one => earlier.build(one))
  }
  if (!sets.base) {
    const { fleet: head, ...built } = whole(inputOf(sets.head, withheld))
    return { ...built, head, base: undefined, since: built.input.retain?.since }
  }
  const before = inputOf(sets.base, withheld)
  const { fleet: base, isOpen, input: known } = whole(before)
  const input = { ...inputOf(sets.head, withheld, base), config: before.fleet.tree, retain: retainOf(base) }
  return { input, head: session.build(input, onProgress), base, isOpen, since: known.retain?.since }
}

function inputOf({ facts, ...read }: ReadRevisionSet, withheld: string | undefined, from?: Fleet): FleetInput {
  const base = from?.access ? { base: from.access } : {}
  return { ...read, access: { facts, ...base, ...(withheld === undefined ? {} : { withheld }) } }
}

/** Whether only a tenant's declaration leads from this node to a repository. */
function isLentFrom({ source, charts = [] }: FleetNode, url: string | undefined): boolean {
  return [source, ...(source.includes ?? []), ...charts].some(one => one.lent === true && one.url === url)
}

/**
 * Builds and evaluates states of one fleet one after the other: the answers are those of `buildFleet` and `evaluate`, at a cost
 * that follows what changed since the state before.
 */
export class EvaluateSession {
  readonly #fleets = new FleetSession()
  readonly #assessor = new Assessor()
  readonly #start = { ...work }

  /** Reports progress. */
  set watch(watch: Watch | undefined) {
    this.#fleets.watch = watch
    this.#assessor.watch = watch
  }

  build(input: FleetInput, onProgress?: Parameters<FleetSession['build']>[1]): Fleet {
    return this.#fleets.build(input, onProgress)
  }

  evaluateFleet(head: Fleet, options: EvaluateOptions): Evaluation {
    return evaluateFleet(head, options, (fleet, before) => this.#assessor.assess(fleet, before))
  }

  /** How much was done since the session began, by all of this thread. */
  get work(): Work {
    return workSince(this.#start)
  }
}
