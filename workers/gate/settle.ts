import { ENGINE_VERSION } from '../../src/fleet/model/input.ts'
import { listOurCheckRuns, type OurCheckRun, renameCheckRuns } from '../../src/github/checks.ts'
import { type ListedPullRequest, listOpenPullRequests } from '../../src/github/pull-request.ts'
import type { Jobs } from '../../src/receive/queue.ts'
import { isForBases, isUndecidedId, versionOfExternalId } from '../../src/report/check-run-text.ts'
import { isTenancyCheck, type NamedCheck, SUPERSEDED_CHECK_NAME } from '../../src/verdict/check-names.ts'
import { evaluatedEarlier, type FleetAnswer } from '../fleets/evaluate-change.ts'
import { caseOf, openWriter } from '../fleets/github-installation.ts'
import type { Pin } from '../fleets/source-reader.ts'
import type { Case, Installation, WorkerContext, Writer } from '../fleets/worker-context.ts'
import { type RepositoryBases, readBases } from './bases.ts'

/** An open pull request, its checks, and our runs on its head at that time. */
export interface SettledPull {
  readonly pull: ListedPullRequest
  readonly checks: readonly NamedCheck[]
  readonly runs: readonly OurCheckRun[]
}

/**
 * Updates the names of our runs to the gated bases of a repository, before anything is evaluated: on the heads of open
 * pull requests and on the tips of branches, a run that counts for no base, or passes for another one, is renamed.
 * Returns the open pull requests.
 */
export async function settleRepository(subject: Case, bases: RepositoryBases): Promise<readonly SettledPull[]> {
  const { context, repository, installation } = subject
  const open = await listOpenPullRequests(subject)
  let opened: Promise<Writer> | undefined
  const writer = () => {
    opened ??= openWriter(context, installation.id, repository)
    return opened
  }
  const settled: SettledPull[] = []
  for (const [sha, pulls] of Map.groupBy(open, ({ head }) => head.sha)) {
    const checks = await bases.checksOf(pulls.map(({ base }) => base.ref))
    const runs = await settleCommit(writer, checks, await listOurCheckRuns(subject, sha))
    for (const pull of pulls) settled.push({ pull, checks: checksAt(checks, pull.base.ref), runs })
  }
  for (const branch of bases.followed) {
    const tip = await installation.head(repository, { branch })
    // a passing run of the queue or of an older version would let a pull request from the tip merge at once
    if (tip !== undefined && open.every(({ head }) => head.sha !== tip))
      await settleCommit(writer, await bases.checksOf([branch]), await listOurCheckRuns(subject, tip))
  }
  return settled
}

function settleCommit(writer: () => Promise<Writer>, checks: readonly NamedCheck[], runs: readonly OurCheckRun[]) {
  return supersedeRuns(writer, runs, run => isUnasked(run, checks) || isOfOtherBase(run, checks))
}

/** Those of the checks of a commit that let it be merged into this base. */
export function checksAt(checks: readonly NamedCheck[], base: string): readonly NamedCheck[] {
  return checks.filter(({ bases }) => bases.includes(base))
}

/** Updates the checks of a repository, then enqueues an evaluation of every pull request that lost its verdict. */
export async function settleAndAsk(subject: Case): Promise<void> {
  const settled = await settleRepository(subject, await readBases(subject))
  const missing = settled.filter(
    ({ checks, runs }) => checks.length > 0 && stalenessOfChecks(checks, runs).staleness === 'missing',
  )
  const { context, installation, owner, repo } = subject
  const numbers = missing.map(({ pull }) => pull.number)
  await evaluateSpread(context, { installation: installation.id, owner, repo }, numbers)
}

/** A repository whose pull requests are evaluated. */
type EvaluatedRepository = Omit<Jobs['validate-pull-request'], 'pull' | 'rerun' | 'unlike'>

/** Delay between the evaluations of several pull requests, so that a hundred are not a burst. */
const SPREAD_MS = 300
const LATEST_MS = 60_000

/** Enqueues an evaluation of each of these pull requests, some time apart. `before`: how many went before them. */
export async function evaluateSpread(
  { queue }: Pick<WorkerContext, 'queue'>,
  { installation, owner, repo }: EvaluatedRepository,
  pulls: readonly number[],
  { before = 0, latestMs = LATEST_MS } = {},
): Promise<void> {
  for (const [index, pull] of pulls.entries()) {
    const delayMs = Math.min((before + index) * SPREAD_MS, latestMs)
    await queue.add('validate-pull-request', { installation, owner, repo, pull }, { delayMs })
  }
}

/** Enqueues a sweep for the end of the pause that ends first: a check that it lets pass counts as missing. */
export async function sweepAfterPause(
  { queue, statements }: Pick<WorkerContext, 'queue' | 'statements'>,
  installation: Installation,
): Promise<void> {
  const { fleets } = await installation.designation()
  const ends = (await Promise.all(fleets.map(fleet => statements.pauseOf(fleet)))).flatMap(pause =>
    pause ? [Date.parse(pause.until)] : [],
  )
  if (ends.length === 0) return
  const delayMs = Math.max(0, Math.min(...ends) - Date.now()) + 1_000
  await queue.add('sweep-installation', { installation: installation.id }, { delayMs })
}

/** How many repositories are settled before anything else is evaluated; more get jobs of their own. */
const AT_ONCE = 20

/**
 * Updates the checks of every repository whose gated branches changed with a push: on a newly followed branch, passing
 * checks of open pull requests do not cover it. If a fleet fails to build, or builds again, every gated base loses its
 * verdict, and the sweep evaluates them. `before`: the previous commit of the branch, if known.
 */
export async function settleFollowed(
  subject: Case,
  head: Pin,
  before: string | undefined,
  answers: readonly FleetAnswer[],
): Promise<void> {
  if (before === undefined) return // gated branches follow from what a branch declares, not from its existence
  const { context, attempt, installation } = subject
  const earlier = await evaluatedEarlier(subject, { ...head, commit: before })
  const [then, now] = [branchesOf(earlier ?? []), branchesOf(answers)]
  const urls = new Set([...then.keys(), ...now.keys()].filter(url => then.get(url) !== now.get(url)))
  const changed = (await installation.repositories()).filter(({ url, archived }) => urls.has(url) && !archived)
  for (const [index, repository] of changed.entries()) {
    const { owner, repo } = repository
    if (index < AT_ONCE) await settleAndAsk(await caseOf(context, attempt, installation, repository))
    else await context.queue.add('settle-checks', { installation: installation.id, owner, repo })
  }
  if (darkOf(earlier ?? []) !== darkOf(answers))
    await context.queue.add('sweep-installation', { installation: installation.id })
}

/** The fleets whose sources are not known, as one text. */
function darkOf(answers: readonly FleetAnswer[]): string {
  return JSON.stringify(answers.flatMap(({ place, isDark }) => (isDark ? [place.repository.url] : [])).sort())
}

/** By repository: the branches that these fleets follow or list, as one text. */
function branchesOf(answers: readonly FleetAnswer[]): ReadonlyMap<string, string> {
  const all = answers.flatMap(({ gated = [] }) => gated)
  const byUrl = Map.groupBy(all, ({ url }) => url)
  const text = (branches: readonly { branch: string }[]) =>
    JSON.stringify([...new Set(branches.map(({ branch }) => branch))].sort())
  return new Map([...byUrl].map(([url, branches]) => [url, text(branches)]))
}

/** Whether a run lets something pass now. */
export function passes({ status, conclusion }: OurCheckRun): boolean {
  return status === 'completed' && conclusion === 'success'
}

/** Whether no check of the commit has the name of this run. */
export function isUnasked({ name }: OurCheckRun, checks: readonly NamedCheck[]): boolean {
  return isTenancyCheck(name) && checks.every(check => check.name !== name)
}

/** Whether a run passes what was evaluated for another base than that of its check now. */
export function isOfOtherBase(run: OurCheckRun, checks: readonly NamedCheck[]): boolean {
  return passes(run) && checks.some(check => check.name === run.name && !isForBases(run.externalId, check))
}

/**
 * Renames runs of a commit, because GitHub lets them count wherever their name is required. `runs`: the latest of each
 * name. Returns those that stay.
 */
export async function supersedeRuns(
  writer: () => Promise<Writer>,
  runs: readonly OurCheckRun[],
  isSuperseded: (run: OurCheckRun) => boolean,
): Promise<readonly OurCheckRun[]> {
  const superseded = runs.filter(isSuperseded)
  for (const { name: from, headSha } of superseded) {
    await renameCheckRuns(await writer(), { headSha, from, to: SUPERSEDED_CHECK_NAME })
  }
  return runs.filter(run => !superseded.includes(run))
}

/**
 * The state of a verdict. `missing`: there is none, or an outage prevented it. `old`: a dependency was evaluated since.
 * `slowly`: only the version of engine and rules differs; the old verdict counts until its turn comes.
 */
export type Staleness = 'missing' | 'old' | 'slowly' | 'fresh'

/** `since`: when its dependencies were last evaluated, in ms; a verdict begun before may be older than that. */
export function stalenessOf(run: OurCheckRun | undefined, since = 0): Staleness {
  const id = run?.externalId ?? ''
  if (run?.status !== 'completed' || isUndecidedId(id)) return 'missing'
  if (begun(run) < since) return 'old'
  return versionOfExternalId(id) === ENGINE_VERSION ? 'fresh' : 'slowly'
}

/** When a verdict was started, in ms; 0 if GitHub does not show it. */
export function begun(run: OurCheckRun | undefined): number {
  return run?.startedAt ? Date.parse(run.startedAt) || 0 : 0
}

const URGENCY: readonly Staleness[] = ['fresh', 'slowly', 'old', 'missing']

/**
 * The most urgent state among the checks of a pull request, with its run. A check for other bases counts as missing.
 */
export function stalenessOfChecks(
  checks: readonly NamedCheck[],
  runs: readonly OurCheckRun[],
  since = 0,
): { readonly staleness: Staleness; readonly run?: OurCheckRun | undefined } {
  const each = checks.map(check => {
    const run = runs.find(one => one.name === check.name)
    const isOther = run?.status === 'completed' && !isForBases(run.externalId, check)
    return { run, staleness: isOther ? 'missing' : stalenessOf(run, since) } as const
  })
  return each.reduce((most, one) => (URGENCY.indexOf(one.staleness) > URGENCY.indexOf(most.staleness) ? one : most), {
    staleness: 'fresh',
    run: undefined,
  })
}
