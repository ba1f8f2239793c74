import { BailiwickError } from '../../src/errors.ts'
import type { RepositoryFact } from '../../src/fleet/access/read-access.ts'
import type { GatedBranch } from '../../src/fleet/config/fleet-config.ts'
import { ANOTHER_REPOSITORY, type WantedSource } from '../../src/fleet/input.ts'
import { mayLeadTo } from '../../src/fleet/named-repositories.ts'
import { refKey } from '../../src/fleet/ref.ts'
import type { Changes } from '../../src/report/changes/changes.ts'
import type { Judgement } from '../../src/rules/finding.ts'
import type { Evaluator } from '../evaluation/evaluator.ts'
import type { CombinationSnapshot, EvaluationAnswer } from '../evaluation/protocol.ts'
import { undecided } from '../evaluation/undecided.ts'
import type { ReadableRepository } from './installation.ts'
import { isPinned, type People, type Pin, type ReadSource, type SourceReader } from './source-reader.ts'

/** A source as it was judged; `lent`: only a tenant's declaration leads there, so its repository is not gated by it. */
export type FollowedSource = ReadSource & { readonly lent: boolean }

/** A fleet repository on the branch that clusters follow. */
export interface FleetPlace {
  readonly repository: ReadableRepository
  readonly branch: string
}

export interface CombinationRequest {
  readonly fleet: FleetPlace
  /** Judge this commit in place of what its branch holds now. */
  readonly head?: Pin
  /** Compare with this commit in place of what its branch holds now. */
  readonly base?: Pin
  readonly disabledRules: readonly string[]
  /** Who brought the head, where that may count; undefined: it cannot be known who did. */
  readonly people?: People
}

export interface JudgedCombination {
  readonly judgement: Judgement
  /** Fingerprints that the fleet's baseline file lists; empty where a base was compared with. */
  readonly baseline: readonly string[]
  /** Branches that its clusters follow or its file lists; absent where the fleet could not be built, empty with a base. */
  readonly gated?: readonly GatedBranch[]
  /** What the head does to what the clusters get; absent without a base. */
  readonly changes?: Changes
  /** Commit of the fleet repository that was judged. */
  readonly fleetCommit: string
  /** All that was judged, to ask more about it. */
  readonly snapshot: CombinationSnapshot
  /** The sources that it read besides the fleet, as they were judged. */
  readonly sources: readonly FollowedSource[]
  /** Whether `head` or `base` took part: false means that this fleet does not read what changed. */
  readonly concerned: boolean
}

/** Sources appear one level deeper with each round or two; more levels than this is no fleet. */
const MAX_ROUNDS = 32

/**
 * Judges one combination: reads the fleet and, round by round, every source that its graph turns out to need.
 * A fleet that cannot be decided as a whole gives an error verdict; a GitHub that does not answer throws.
 */
export async function judgeCombination(
  evaluator: Pick<Evaluator, 'evaluate'>,
  reader: SourceReader,
  request: CombinationRequest,
): Promise<JudgedCombination> {
  const { fleet, disabledRules } = request
  const wanted: WantedSource[] = []
  const facts = new Map<string, RepositoryFact>()
  const foreign: string[] = []
  const ofFleet: boolean = isPinned(fleetSource(fleet), request.head)
  const changed = ofFleet ? undefined : request.head?.url
  const today = new Date().toISOString().slice(0, 10)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const view = { reader, fleet, wanted, facts: inOrder(facts), disabledRules }
    const head = await snapshot(view, request.head, foreign)
    // a change of the wrong repository itself is compared with what was believed: there it must not pass as standing
    const known = foreign.filter(url => url !== changed)
    const base = request.base && (await snapshot(view, request.base, known))
    const answer = await evaluator.evaluate({
      type: 'judge',
      head: head.snapshot,
      ...(base ? { base: base.snapshot } : {}),
      ...(changed === undefined ? {} : { changed }),
      today,
    })
    const pinned = 'pinned' in answer ? (answer.pinned ?? []) : []
    const found = (await reader.foreign(pinned)).filter(url => !foreign.includes(url))
    foreign.push(...found)
    if (answer.type === 'wanted') {
      wanted.push(...answer.wanted)
      for (const fact of await reader.facts(answer.asked, fleet.repository.url, request.people))
        facts.set(fact.url, fact)
    }
    if (answer.type === 'wanted' || found.length > 0) continue
    const { judgement, baseline, gated, changes, followed } =
      answer.type === 'judged'
        ? answer
        : {
            judgement: undecided(refusal(answer)),
            baseline: [],
            gated: undefined,
            changes: undefined,
            followed: wanted,
          }
    const reads = [fleetSource(fleet), ...followed].some(
      source => isPinned(source, request.head) || isPinned(source, request.base),
    )
    // a platform node that cannot be rendered may lead there unseen: that is no reason to say that nothing is touched
    const leads = changed !== undefined && judgement.nodes.some(node => mayLeadTo(node.hides, changed))
    const concerned = reads || leads
    const { commit } = head.snapshot.fleet
    const said = { judgement, baseline, ...(gated ? { gated } : {}), ...(changes ? { changes } : {}) }
    const sources = withLent(head.sources, followed)
    return { ...said, fleetCommit: commit, snapshot: head.snapshot, sources, concerned }
  }
  throw new BailiwickError(
    'graph-limits',
    `sources of ${fleet.repository.url} lead to more than ${MAX_ROUNDS} levels of sources`,
  )
}

interface CombinationView {
  readonly reader: SourceReader
  readonly fleet: FleetPlace
  readonly wanted: readonly WantedSource[]
  readonly facts: readonly RepositoryFact[]
  readonly disabledRules: readonly string[]
}

/** `foreign`: addresses whose repository is not the one that the fleet means; its content is not looked at. */
async function snapshot(
  { reader, fleet, wanted, facts, disabledRules }: CombinationView,
  pin: Pin | undefined,
  foreign: readonly string[],
): Promise<{ snapshot: CombinationSnapshot; sources: ReadSource[] }> {
  const place = await reader.read(fleetSource(fleet), pin)
  if (!('tree' in place)) throw new BailiwickError('source-unreadable', `${place.url}: ${place.reason}`)
  const read = async (source: WantedSource) =>
    foreign.includes(source.url) ? { ...source, reason: ANOTHER_REPOSITORY } : reader.read(source, pin)
  const sources = await Promise.all(wanted.map(read))
  return {
    sources,
    snapshot: {
      fleet: { url: place.url, branch: fleet.branch, commit: place.commit, tree: place.tree },
      sources: sources.flatMap(source => ('tree' in source ? [source] : [])),
      opaque: sources.flatMap(source => ('reason' in source ? [source] : [])),
      facts,
      disabledRules,
    },
  }
}

function withLent(sources: readonly ReadSource[], followed: readonly WantedSource[]): FollowedSource[] {
  const keys = new Set(followed.map(keyOf))
  return sources.map(source => ({ ...source, lent: !keys.has(keyOf(source)) }))
}

const inOrder = (facts: ReadonlyMap<string, RepositoryFact>): RepositoryFact[] =>
  [...facts.values()].sort((a, b) => (a.url < b.url ? -1 : 1))

const keyOf = ({ url, ref }: WantedSource): string => `${url} ${refKey(ref)}`

function fleetSource(fleet: FleetPlace): WantedSource {
  return { url: fleet.repository.url, ref: { branch: fleet.branch } }
}

function refusal(answer: EvaluationAnswer) {
  if (answer.type === 'refused') return answer
  throw new TypeError(`the rendering thread answered ${answer.type} to a question for a judgement`)
}
