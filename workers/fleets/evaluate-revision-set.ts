import { BailiwickError, type ErrorCode } from '../../src/base/errors.ts'
import { fixOf, typedMessage } from '../../src/base/message.ts'
import { MAX_EARLIER } from '../../src/fleet/graph/fleet-session.ts'
import type { GatedBranch } from '../../src/fleet/model/fleet-config.ts'
import { ANOTHER_REPOSITORY } from '../../src/fleet/model/input.ts'
import { factKey, mayLeadTo, namedRepositories, type RepositoryFact } from '../../src/fleet/model/source-access.ts'
import { refKey, type WantedSource } from '../../src/fleet/model/source-ref.ts'
import { openSnapshot } from '../../src/git/tree.ts'
import { withPresentNames } from '../../src/report/outcome.ts'
import type { Evaluation } from '../../src/rules/model/finding.ts'
import type { PlannedPrune } from '../../src/verdict/change-prunes.ts'
import type { Changes } from '../../src/verdict/diff/changes.ts'
import { undecided } from '../../src/verdict/evaluated.ts'
import { isPassing } from '../job-error.ts'
import type { Evaluator } from './evaluator.ts'
import type { EvaluateRequest, EvaluationAnswer, EvaluationRequest, RevisionSetSnapshot } from './protocol.ts'
import { type Contributors, isPinned, type Pin, type ReadSource, SourceReader } from './source-reader.ts'
import type { Case, FleetPlace, Installation, WorkerContext } from './worker-context.ts'

/** A source as evaluated; `lent`: only a tenant's declaration leads there, so its repository is not gated by it. */
type FollowedSource = ReadSource & { readonly lent: boolean }

interface RevisionSetRequest {
  readonly fleet: FleetPlace
  /** Evaluate this commit in place of what its branch holds now. */
  readonly head?: Pin
  /** Compare with this commit in place of what its branch holds now. */
  readonly base?: Pin
  readonly disabledRules: readonly string[]
  /** The contributors of the head, if they may count; undefined: unknown. */
  readonly people?: Contributors
}

export interface EvaluatedRevisionSet {
  readonly evaluation: Evaluation
  /** Fingerprints that the fleet's baseline file lists; empty with a base. */
  readonly baseline: readonly string[]
  /** Branches that its clusters follow or its file lists; absent if the fleet could not be built, empty with a base. */
  readonly gated?: readonly GatedBranch[]
  /** The rendered changes of the clusters; absent without a base. */
  readonly changes?: Changes
  /** What the head would have deleted; absent without a base. */
  readonly prunes?: readonly PlannedPrune[]
  /** Commit of the fleet repository that was evaluated. */
  readonly fleetCommit: string
  /** All that was evaluated, for further requests. */
  readonly snapshot: RevisionSetSnapshot
  /** The last request, to repeat it with more input. */
  readonly question: EvaluateRequest
  /** The sources that it read besides the fleet, as they were evaluated. */
  readonly sources: readonly FollowedSource[]
  /** Earlier addresses by which its manifests name sources, and the present ones. */
  readonly names: Names
  /** Whether `head` or `base` took part: false means that this fleet does not read what changed. */
  readonly concerned: boolean
  /** Unknown whether it reads other repositories than those: it, or a part of it, could not be built. */
  readonly isDark: boolean
}

/** Sources appear one level deeper with each round or two; a fleet does not have more levels. */
const MAX_ROUNDS = 32

/**
 * Evaluates a revision set: reads the fleet and, round by round, every source that its graph turns out to need. A fleet
 * that cannot be evaluated as a whole gives an error verdict. Throws if GitHub does not answer.
 */
export async function evaluateRevisionSet(
  evaluator: Pick<Evaluator, 'evaluate'>,
  reader: SourceReader,
  request: RevisionSetRequest,
): Promise<EvaluatedRevisionSet> {
  const { fleet, disabledRules } = request
  const wanted: WantedSource[] = []
  const facts = new Map<string, RepositoryFact>()
  const foreign: string[] = []
  let earlier: Earlier | undefined
  const url = changedUrl(request)
  const today = new Date().toISOString().slice(0, 10)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const names = await presentNames(reader, wanted)
    // the fleet may still use an earlier name
    const changed = [...names].find(([, present]) => present === url)?.[0] ?? url
    const view = { reader, fleet, wanted, facts: inOrder(facts), disabledRules }
    const head = await snapshot(view, request.head, foreign)
    // for a change in the wrong repository, the base is still read, so that its errors do not count as existing
    const known = foreign.filter(url => url !== changed)
    const base = request.base && (await snapshot(view, request.base, known))
    const question: EvaluateRequest = {
      type: 'evaluate',
      head: head.snapshot,
      ...(base ? { base: base.snapshot } : {}),
      ...(changed === undefined ? {} : { changed }),
      ...(earlier ? { earlier } : {}),
      today,
    }
    const answer = await evaluator.evaluate(question)
    const pinned = 'pinned' in answer ? (answer.pinned ?? []) : []
    const others = await reader.foreign(pinned)
    const found = others.filter(one => !foreign.includes(one.url))
    const isMoved = (await presentNames(reader, wanted)).size > names.size
    foreign.push(...found.map(one => one.url))
    if (request.head) await reader.refuseNamesake(request.head, others)
    if (answer.type === 'wanted') {
      wanted.push(...answer.wanted)
      for (const fact of await reader.facts(answer.asked, fleet.repository.url, request.people))
        facts.set(factKey(fact), fact)
      const { commit } = (base ?? head).snapshot.fleet
      if (answer.earlier) earlier = await moreEarlier(reader, fleet, commit, earlier?.states ?? [])
    }
    if (answer.type === 'wanted' || found.length > 0 || isMoved) continue
    const { evaluation, baseline, gated, changes, prunes, followed, isDark } = settled(answer, wanted)
    const hides = answer.type === 'evaluated' ? evaluation.nodes.flatMap(node => node.hides) : namedIn(head.snapshot)
    const concerned = reads(request, followed, names) || (url !== undefined && (await leads(reader, hides, url)))
    const { commit } = head.snapshot.fleet
    const compared = { ...(changes ? { changes } : {}), ...(prunes ? { prunes } : {}) }
    const result = { evaluation, baseline, ...(gated ? { gated } : {}), ...compared }
    const sources = withLent(head.sources, followed)
    return { ...result, fleetCommit: commit, snapshot: head.snapshot, question, sources, names, concerned, isDark }
  }
  throw new BailiwickError(
    'graph-limits',
    `sources of ${fleet.repository.url} lead to more than ${MAX_ROUNDS} levels of sources`,
  )
}

type Settled = Omit<Extract<EvaluationAnswer, { type: 'evaluated' }>, 'type' | 'pinned' | 'gated' | 'stopped'> & {
  readonly gated?: readonly GatedBranch[]
}

/** Of a fleet that could not be built at all, only the requested sources are known. */
function settled(answer: EvaluationAnswer, wanted: readonly WantedSource[]): Settled {
  if (answer.type === 'evaluated') return answer
  return { evaluation: undecided(refusal(answer)), baseline: [], followed: wanted, isDark: true }
}

type Earlier = NonNullable<EvaluateRequest['earlier']>

/** Twice as many of the first parents of a commit as are known, up to the limit. */
async function moreEarlier(
  reader: SourceReader,
  { repository }: FleetPlace,
  commit: string,
  known: Earlier['states'],
): Promise<Earlier> {
  const states = [...known]
  const most = Math.min(MAX_EARLIER, Math.max(2, known.length * 2))
  while (states.length < most) {
    const next = await reader.parent(repository, states.at(-1)?.commit ?? commit)
    if (!next) return { states, isAll: true }
    states.push(next)
  }
  return { states, isAll: states.length >= MAX_EARLIER }
}

/** Address of the repository that the change is in, if it is not the fleet on its branch. */
function changedUrl({ fleet, head }: RevisionSetRequest): string | undefined {
  const ofFleet: boolean = isPinned(fleetSource(fleet), head)
  return ofFleet ? undefined : head?.url
}

function reads({ fleet, head, base }: RevisionSetRequest, followed: readonly WantedSource[], names: Names): boolean {
  const present = (source: WantedSource) => ({ ...source, url: names.get(source.url) ?? source.url })
  return [fleetSource(fleet), ...followed.map(present)].some(source => isPinned(source, head) || isPinned(source, base))
}

/** Whether a platform node that cannot be rendered may lead there, so that the fleet may be affected. */
async function leads(reader: SourceReader, hides: readonly string[], url: string): Promise<boolean> {
  return mayLeadTo(hides, url) || reader.leadTo(hides, url)
}

/** In a fleet that could not be built at all, any file may name the repositories that it reads. */
function namedIn({ fleet }: RevisionSetSnapshot): string[] {
  const tree = openSnapshot(fleet.tree)
  const texts = function* (path: string): Generator<string> {
    for (const entry of tree.list(path)) {
      if (entry.type === 'directory') yield* texts(entry.path)
      else if (entry.type === 'file') yield new TextDecoder().decode(tree.read(entry.path).slice())
    }
  }
  return namedRepositories(texts(''))
}

/** Earlier addresses, and the present ones. */
type Names = ReadonlyMap<string, string>

/** Outdated addresses of wanted sources, with the present ones. */
async function presentNames(reader: SourceReader, wanted: readonly WantedSource[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const url of new Set(wanted.map(source => source.url))) {
    const repository = await reader.at(url)
    if (repository && repository.url !== url) names.set(url, repository.url)
  }
  return names
}

interface RevisionSetView {
  readonly reader: SourceReader
  readonly fleet: FleetPlace
  readonly wanted: readonly WantedSource[]
  readonly facts: readonly RepositoryFact[]
  readonly disabledRules: readonly string[]
}

/** `foreign`: addresses whose repository is not the one that the fleet means; its content is not read. */
async function snapshot(
  { reader, fleet, wanted, facts, disabledRules }: RevisionSetView,
  pin: Pin | undefined,
  foreign: readonly string[],
): Promise<{ snapshot: RevisionSetSnapshot; sources: ReadSource[] }> {
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
      registries: reader.registries,
    },
  }
}

function withLent(sources: readonly ReadSource[], followed: readonly WantedSource[]): FollowedSource[] {
  const keys = new Set(followed.map(keyOf))
  return sources.map(source => ({ ...source, lent: !keys.has(keyOf(source)) }))
}

const inOrder = (facts: ReadonlyMap<string, RepositoryFact>): RepositoryFact[] =>
  [...facts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, fact]) => fact)

const keyOf = ({ url, ref }: WantedSource): string => `${url} ${refKey(ref)}`

function fleetSource(fleet: FleetPlace): WantedSource {
  return { url: fleet.repository.url, ref: { branch: fleet.branch } }
}

function refusal(answer: EvaluationAnswer) {
  if (answer.type === 'refused') return answer
  throw new TypeError(`the rendering thread answered ${answer.type} to a question for a evaluation`)
}

/** A fleet at its present commits, with every source that it reads. */
export interface StandingFleet {
  readonly place: FleetPlace
  readonly commit: string
  readonly sources: readonly FollowedSource[]
  /** Branches that its clusters follow or its file lists; absent if the fleet could not be built. */
  readonly gated?: readonly GatedBranch[]
  /** Repositories that a node which could not be rendered may lead to (see isNamed). */
  readonly hides: readonly string[]
  /** It may read further repositories, which are unknown. */
  readonly isDark: boolean
}

/**
 * The designated fleets of an installation at their present commits. One that cannot be read is left out, and logged.
 * Throws if GitHub does not answer.
 */
export async function readFleets(context: WorkerContext, installation: Installation): Promise<StandingFleet[]> {
  const { evaluator, disabledRules, log } = context
  const reader = new SourceReader(installation)
  const fleets: StandingFleet[] = []
  for (const place of (await installation.designation()).fleets) {
    try {
      const evaluated = await evaluateRevisionSet(evaluator, reader, { fleet: place, disabledRules })
      const { fleetCommit: commit, sources: read, evaluation, names, isDark } = evaluated
      const { gated } = withPresentNames({ gated: evaluated.gated }, names)
      const sources = read.map(source => ({ ...source, url: names.get(source.url) ?? source.url }))
      const hides = evaluation.nodes.flatMap(node => node.hides)
      fleets.push({ place, commit, sources, ...(gated ? { gated } : {}), hides, isDark })
    } catch (error) {
      if (isPassing(error)) throw error
      log.warn({ err: error, fleet: place.repository.url }, 'sources of a fleet could not be read')
    }
  }
  return fleets
}

/** The type of the answer to each request about a fleet's own repository. */
interface Answers {
  plan: 'planned'
  change: 'changed'
  offboard: 'offboard'
}

type Asked<T> = Omit<Extract<EvaluationRequest, { readonly type: T }>, 'tree' | 'url' | 'branch'>
type Answered<T extends keyof Answers> = Extract<EvaluationAnswer, { readonly type: Answers[T] }>

const ANSWERS: Answers = { plan: 'planned', change: 'changed', offboard: 'offboard' }

/**
 * Asks a rendering thread about a fleet's repository as its default branch is now. Throws what the thread refuses, and an
 * error with the code `empty` for an empty repository.
 */
export async function askThread<T extends keyof Answers>(
  { context, installation, repository }: Case,
  request: Asked<T> & { readonly type: T },
  empty: ErrorCode,
): Promise<Answered<T> & { readonly commit: string }> {
  const { url, defaultBranch: branch } = repository
  const commit = await installation.head(repository, { branch })
  if (!commit) throw new BailiwickError(empty, 'the repository is empty', { fix: 'Push the files of the fleet first.' })
  const tree = await installation.content(repository, commit)
  const asked = { ...request, tree, url, branch } as unknown as EvaluationRequest
  const answer = await context.evaluator.evaluate(asked)
  if (answer.type === 'refused') throw new BailiwickError(answer.code, typedMessage(answer), { fix: fixOf(answer) })
  if (answer.type === ANSWERS[request.type]) return { ...(answer as Answered<T>), commit }
  throw new TypeError(`the rendering thread answered ${answer.type} to a question for ${request.type}`)
}
