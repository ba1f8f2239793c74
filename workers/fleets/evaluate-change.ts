import { BailiwickError } from '../../src/base/errors.ts'
import { FLEET_FILE, type GatedBranch } from '../../src/fleet/model/fleet-config.ts'
import { mayLeadTo } from '../../src/fleet/model/source-access.ts'
import { listOurCheckRuns } from '../../src/github/checks.ts'
import { isOurs, type OurRepository } from '../../src/github/client/octokit.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import { listPushers } from '../../src/github/people.ts'
import {
  type ListedPullRequest,
  type PullRequest,
  pullsOfMergeGroup,
  readPullRequest,
} from '../../src/github/pull-request.ts'
import { readTestMerge } from '../../src/github/test-merge.ts'
import { withPresentNames } from '../../src/report/outcome.ts'
import type { Evaluation } from '../../src/rules/model/finding.ts'
import { approvalOf } from '../../src/surface/command/record.ts'
import { affectedRepositories } from '../../src/verdict/affected-repositories.ts'
import type { PlannedPrune } from '../../src/verdict/change-prunes.ts'
import type { Changes } from '../../src/verdict/diff/changes.ts'
import { isPassing } from '../job-error.ts'
import { holdsRoot } from './designation.ts'
import { type EvaluatedRevisionSet, evaluateRevisionSet } from './evaluate-revision-set.ts'
import type { RevisionSetSnapshot } from './protocol.ts'
import { type Contributors, narrowerSources, type Pin, SourceReader } from './source-reader.ts'
import type { Case, FleetPlace, Installation } from './worker-context.ts'

/** A commit that a branch has, gets or would get; `base` is what it would replace. */
export interface Change {
  readonly head: Pin
  readonly base?: Pin
  /** The contributors of the head; absent: unknown. */
  readonly people?: Contributors
  /** The base is gated: a check that passes lets it be merged. */
  readonly isGated?: true
}

/** One fleet's evaluation of a change that it reads. */
export interface FleetAnswer {
  readonly place: FleetPlace
  /** Not designated: it evaluates and reads only itself. */
  readonly alone: boolean
  readonly fleetCommit: string
  readonly evaluation: Evaluation
  readonly snapshot: RevisionSetSnapshot
  /** Branches that its clusters follow or its file lists; empty with a base, absent if the fleet could not be built. */
  readonly gated?: readonly GatedBranch[]
  /** The rendered changes of its clusters; absent without a base. */
  readonly changes?: Changes
  /** What the change would have deleted; absent without a base. */
  readonly prunes?: readonly PlannedPrune[]
  /** Its sources that fewer people can see than the repository of the change: their text is not published there. */
  readonly narrower: readonly string[]
  /** Which repositories it reads is unknown: it, or a part of it, could not be built. */
  readonly isDark: boolean
}

type Asked = Pick<Case, 'context' | 'installation'>

/**
 * Evaluates a change in every designated fleet that reads the branch, and in the change's own repository if that looks
 * like a fleet; empty: no fleet is affected.
 */
export async function evaluateChange({ context, installation }: Asked, change: Change): Promise<FleetAnswer[]> {
  const { disabledRules, evaluator } = context
  const reader = new SourceReader(installation)
  const answers: FleetAnswer[] = []
  let isDark = false
  let isTooLarge: BailiwickError | undefined
  for (const { place, alone, unread } of await evaluatingFleets(installation, change.head.url)) {
    // a repository's evaluation of itself adds nothing to that of designated fleets, not even a name
    if (alone && answers.length > 0) continue
    isTooLarge = unread
    if (unread) continue
    const { url } = place.repository
    const evaluated = await evaluateRevisionSet(evaluator, alone ? new SourceReader(installation, url) : reader, {
      fleet: place,
      ...change,
      disabledRules,
    })
    const { concerned, fleetCommit, snapshot, sources, names } = evaluated
    const isUnknown = evaluated.isDark && !alone
    isDark ||= isUnknown
    if (!concerned) continue
    const { evaluation, gated, changes, prunes } = withPresentNames(pick(evaluated), names)
    const more = { ...(gated ? { gated } : {}), ...(changes ? { changes } : {}), ...(prunes ? { prunes } : {}) }
    const read = sources.flatMap(source => ('tree' in source ? [names.get(source.url) ?? source.url] : []))
    const present = await narrowerSources(installation, change.head.url, [...read, url])
    const earlier = [...names].flatMap(([name, now]) => (present.includes(now) ? [name] : []))
    const narrower = [...present, ...earlier]
    answers.push({ place, alone, fleetCommit, evaluation, snapshot, narrower, isDark: isUnknown, ...more })
  }
  if (answers.length === 0 && isDark && change.isGated) throw unknownReader()
  if (isTooLarge && change.isGated) throw isTooLarge
  return answers
}

/** The fleet is not named, because only some people may read it. */
function unknownReader(): BailiwickError {
  const what = 'A fleet was only partly rendered, so it is unknown whether it deploys this repository'
  return new BailiwickError('source-unreadable', what, {
    fix: 'Ask a fleet admin to fix the evaluation errors of the fleet.',
  })
}

const pick = ({ evaluation, gated, changes, prunes }: EvaluatedRevisionSet) => ({
  ...{ evaluation, gated, changes, prunes },
})

/** A fleet, and whether it evaluates itself only. */
interface EvaluatingFleet {
  readonly place: FleetPlace
  readonly alone: boolean
  /** It is too large to be read, so it is not known whether a cluster starts in it. */
  readonly unread?: BailiwickError
}

/**
 * The fleets that evaluate a change in the repository at `url`: the designated ones, and the repository itself if it
 * has a `clusters` directory and is not designated. That one reads nothing else, because its writers decide what it
 * names. No other repository is asked. If nothing is designated, a root of a cluster anywhere in it is enough.
 */
export async function evaluatingFleets(installation: Installation, url: string): Promise<EvaluatingFleet[]> {
  const { fleets } = await installation.designation()
  const designated = fleets.map(place => ({ place, alone: false }))
  if (fleets.some(({ repository }) => repository.url === url)) return designated
  const own = (await installation.repositories()).find(one => one.url === url)
  if (!own) return designated
  const itself = { place: { repository: own, branch: own.defaultBranch }, alone: true }
  await installation.head(own, { branch: own.defaultBranch }) // a folder of a known commit is remembered
  if (await installation.isFleet(own)) return [...designated, itself]
  const found = fleets.length === 0 && (await holdsRoot(installation, own))
  if (found instanceof BailiwickError) return [{ ...itself, unread: found }]
  return found ? [itself] : designated
}

/**
 * Finds the other repositories whose open pull requests may get another verdict after a push from `before` to `head`,
 * by evaluating both in the present revision set. Most pushes affect none.
 */
export async function affectedPlaces(
  subject: Case,
  head: Pin,
  before: string,
  answers: readonly FleetAnswer[],
): Promise<readonly Repository[]> {
  const { installation, repository } = subject
  const earlier = await evaluatedEarlier(subject, { url: head.url, branch: head.branch, commit: before })
  const rulesMoved = earlier !== undefined && (await hasOtherRules(subject, head.commit, before))
  const known = earlier ?? []
  const urls = new Set<string>()
  for (const answer of answers) {
    const was = known.find(one => keyOf(one) === keyOf(answer))
    const isFleet = answer.place.repository.url === repository.url
    const affected =
      was && !(isFleet && rulesMoved) ? affectedRepositories(was.evaluation, answer.evaluation) : everybody(answer)
    for (const url of affected) urls.add(url)
  }
  const hidden = hiddenOf(known) === hiddenOf(answers) ? [] : [...known, ...answers].flatMap(namesIn)
  const readable = await installation.repositories()
  const concerned = readable.filter(({ url }) => urls.has(url) || mayLeadTo(hidden, url))
  return concerned.filter(({ url, archived }) => url !== repository.url && !archived)
}

/** Repositories that nodes which could not be built may lead to. */
const namesIn = ({ evaluation }: FleetAnswer): string[] => evaluation.nodes.flatMap(node => node.hides)

const hiddenOf = (answers: readonly FleetAnswer[]): string => JSON.stringify(answers.map(namesIn))

/**
 * The earlier evaluation; undefined if it cannot be repeated, as after a force push: then every repository may be
 * affected.
 */
export async function evaluatedEarlier(asked: Asked, head: Pin): Promise<readonly FleetAnswer[] | undefined> {
  try {
    return await evaluateChange(asked, { head })
  } catch (error) {
    if (isPassing(error)) throw error
    const commit = `${head.url}@${head.commit}`
    asked.context.log.warn({ err: error, commit }, 'previous state of a branch could not be evaluated')
    return undefined
  }
}

/** Whether the fleet's own file differs: it counts for all repositories. */
async function hasOtherRules({ installation, repository }: Case, head: string, before: string): Promise<boolean> {
  const trees = await Promise.all([installation.content(repository, head), installation.content(repository, before)])
  const [now, then] = trees.map(tree => tree.entries.find(({ path }) => path === FLEET_FILE)?.id)
  return now !== then
}

const keyOf = ({ place }: FleetAnswer) => JSON.stringify([place.repository.url, place.branch])

const everybody = ({ evaluation }: FleetAnswer): string[] => evaluation.nodes.map(({ source }) => source.url)

/**
 * Returns the evaluation of each fleet that an open pull request affects, as if it were merged now. Throws as
 * readTestMerge does.
 */
export async function answersOf(subject: Case, pull: PullRequest): Promise<readonly FleetAnswer[]> {
  const merge = await readTestMerge(subject, pull, subject.context.store)
  const pin = { url: subject.repository.url, branch: pull.base.ref }
  return evaluateChange(subject, {
    head: { ...pin, commit: merge.sha, tree: merge.tree },
    base: { ...pin, commit: merge.base },
    people: peopleOfPull(subject, pull),
  })
}

/**
 * The contributors of a pull request: its author and everyone who pushed to its head; of one that our App opened, who
 * approved that head by a command, and everyone else who pushed to it. Read from GitHub on first use, once.
 */
export function peopleOfPull(subject: OurRepository, pull: ListedPullRequest): Contributors {
  return once(() => broughtBy(subject, pull))
}

/** The contributors of a merge group: those of each pull request in it, down to the base commit. */
export function peopleOfGroup(
  subject: OurRepository,
  branch: string,
  group: { readonly sha: string; readonly base: string },
): Contributors {
  return once(async () => {
    const numbers = await pullsOfMergeGroup(subject, branch, group)
    if (!numbers || numbers.length === 0) return undefined
    const logins = new Set<string>()
    for (const number of numbers) {
      const pull = await readPullRequest(subject, number)
      const people = pull && (await broughtBy(subject, pull))
      if (!people) return undefined
      for (const login of people) logins.add(login)
    }
    return [...logins]
  })
}

/** Undefined if one of them is not a person, or GitHub does not show who it was. */
async function broughtBy(subject: OurRepository, pull: ListedPullRequest): Promise<readonly string[] | undefined> {
  const author = isByOurApp(subject, pull)
    ? approvalOf(pull, await listOurCheckRuns(subject, pull.head.sha))?.by
    : pull.author?.type === 'User' && pull.author.login
  const pushers = author ? await pushersOf(subject, pull) : undefined
  return author && pushers ? [...new Set([author, ...pushers])] : undefined
}

/** Everyone who pushed to the head of a pull request; of one that our App opened, everyone else. Undefined if unknown. */
export async function pushersOf(
  { octokit, app, ...own }: OurRepository,
  pull: ListedPullRequest,
): Promise<readonly string[] | undefined> {
  const { ref, sha, fork, repository } = pull.head
  const [owner, repo] = fork ? (repository?.split('/') ?? []) : [own.owner, own.repo]
  if (!owner || !repo) return undefined
  return listPushers({ octokit, owner, repo }, ref, sha, isByOurApp({ app }, pull) ? app : undefined)
}

const isByOurApp = ({ app }: Pick<OurRepository, 'app'>, { author }: ListedPullRequest): boolean =>
  author !== undefined && isOurs(app, { user: author })

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}
