import { BailiwickError } from '../../src/base/errors.ts'
import type { RepositoryName } from '../../src/github/client/octokit.ts'
import { readCommitSummary } from '../../src/github/contents/commits.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import {
  type ListedPullRequest,
  type PullRequest,
  pullsOfMergeGroup,
  readPullRequest,
} from '../../src/github/pull-request.ts'
import { inTurns } from '../../src/process/run-process.ts'
import type { ValidateMergeGroup } from '../../src/receive/queue.ts'
import { within } from '../../src/receive/retry.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { narrowed, type Outcome } from '../../src/report/outcome.ts'
import { checkPageOf, fleetPageOf } from '../../src/report/page/build-pages.ts'
import type { PageCommit, PagePull } from '../../src/report/page/check-page.ts'
import {
  type FleetPulls,
  type PullRow,
  settledPulls,
  withoutPull,
  withPull,
} from '../../src/report/page/fleet-pulls.ts'
import type { CoveredPolicy } from '../../src/rules/policies/policy-coverage.ts'
import { checkPath } from '../../src/surface/pages/page-address.ts'
import type { AccessOverview, AccessView } from '../../src/verdict/audit/access-overview.ts'
import type { ClusterAudit } from '../../src/verdict/audit/audit-item.ts'
import type { FleetAnswer } from '../fleets/evaluate-change.ts'
import type { StandingFleet } from '../fleets/evaluate-revision-set.ts'
import type { RevisionSetSnapshot } from '../fleets/protocol.ts'
import { narrowerSources, withoutSources } from '../fleets/source-reader.ts'
import type { Case, FleetPlace, Installation, WorkerContext } from '../fleets/worker-context.ts'
import { headsThatDecide } from './bases.ts'
import { type CommitOutcome, decisionOf, readFixes, textsOf } from './commit-outcome.ts'

/** Longer than a store that works ever takes. */
const LIMIT_MS = 2_000

/**
 * Stores the details page of a check and returns its address; undefined if pages are off. If the store fails, the
 * verdict is published anyway, and the address shows how to create the page again.
 */
export async function keepPage(
  { pages: { store, publicUrl }, metrics, log }: WorkerContext,
  { owner, repo, id: repositoryId, visibility }: Repository,
  check: string,
  evaluated: CommitOutcome,
  about?: PullRequest | PageCommit,
): Promise<string | undefined> {
  const { outcome, context, tree } = evaluated
  metrics.verdictReached(context.kind, resultOf(outcome))
  if (publicUrl === undefined) return undefined
  const at = new Date().toISOString()
  const fixes = readFixes(evaluated)
  const place = {
    ...{ owner, repo, repositoryId, check, at, visibility },
    ...(about && ('number' in about ? { pull: pagePull(about) } : { commit: about })),
    ...(fixes.length > 0 ? { fixes } : {}),
  }
  const page = checkPageOf(outcome, context, place, tree && textsOf(tree))
  const kept = await within(LIMIT_MS, store.keep(page)).catch(err => {
    log.warn({ err }, 'page could not be stored')
    return true
  })
  if (kept !== true) log.warn({ kept, page: `${owner}/${repo}@${context.headSha}` }, 'page was not stored')
  return `${publicUrl}${checkPath({ owner, repo, sha: context.headSha, check })}`
}

function pagePull({ number, title, author, head, base }: PullRequest): PagePull {
  const branch = head.fork ? `${head.repository ?? 'deleted fork'}:${head.ref}` : head.ref
  return { number, title: title.slice(0, 300), author: author?.login ?? '', head: branch, base: base.ref }
}

function resultOf(outcome: Outcome): string {
  if (outcome === undefined) return 'untouched'
  return outcome instanceof BailiwickError ? 'error' : outcome.result
}

/** Pull requests of a merge group that a page names. */
const MAX_PULLS = 20

type PageContext = Pick<WorkerContext, 'pages' | 'log'>

/** The facts about a commit on the page of a branch; those that GitHub does not return in time are left out. */
export async function pageCommitOf(
  subject: Case,
  { branch, sha }: { readonly branch: string; readonly sha: string },
): Promise<PageCommit> {
  const summary = await inTime(subject.context, () => readCommitSummary(subject, sha))
  return { branch, ...summary }
}

/** The same for a merge group, with the pull requests that the queue merges with it. */
export async function pageCommitOfGroup(subject: Case, group: ValidateMergeGroup): Promise<PageCommit> {
  const [commit, pulls] = await Promise.all([
    pageCommitOf(subject, group),
    inTime(subject.context, () => pullsOf(subject, group)),
  ])
  return { ...commit, ...pulls }
}

async function pullsOf(
  subject: Case,
  group: ValidateMergeGroup,
): Promise<Pick<PageCommit, 'pulls' | 'morePulls'> | undefined> {
  const numbers = await pullsOfMergeGroup(subject, group.branch, group)
  if (!numbers) return undefined
  const read = numbers.slice(0, MAX_PULLS).map(async number => {
    const pull = await readPullRequest(subject, number)
    return { number, title: pull?.title.slice(0, 300) ?? '', author: pull?.author?.login ?? '' }
  })
  return { pulls: await Promise.all(read), morePulls: Math.max(0, numbers.length - MAX_PULLS) }
}

async function inTime<T>({ pages, log }: PageContext, ask: () => Promise<T | undefined>): Promise<T | undefined> {
  if (pages.publicUrl === undefined) return undefined
  const found = await within(LIMIT_MS, ask()).catch(err => {
    log.warn({ err }, 'commit could not be described on its page')
    return undefined
  })
  return found === 'late' ? undefined : (found as T | undefined)
}

/**
 * Stores the pages of the evaluated fleets, in the state of their branches. Errors are only logged: the verdict is
 * published already, and the next push writes the page again.
 */
export async function keepFleetPages(
  context: WorkerContext,
  installation: Installation,
  answers: readonly FleetAnswer[],
): Promise<void> {
  if (context.pages.publicUrl === undefined) return
  for (const answer of answers) {
    await keepFleetPage(context, installation, answer).catch(err =>
      context.log.warn({ err, fleet: answer.place.repository.url }, 'fleet page could not be stored'),
    )
  }
}

/** Limit of portions: enough for all of a fleet of a hundred tenants. */
const MAX_PORTIONS = 10
/** In a fleet of a thousand a portion is a namespace or two: people use the command line there. */
const WORTHWHILE = 5

async function keepFleetPage(
  { evaluator, pages, outbox }: WorkerContext,
  installation: Installation,
  { place, fleetCommit: commit, evaluation: whole, snapshot: read }: FleetAnswer,
): Promise<void> {
  const urls = read.sources.map(source => source.url)
  const narrower = new Set(await narrowerSources(installation, place.repository.url, urls))
  const snapshot = withoutSources(read, narrower)
  const evaluation = narrowed(whole, narrower)
  const { id: repositoryId, owner, repo, url: repository, visibility } = place.repository
  const { audit, policies, access } = await askOverview(evaluator, snapshot)
  const fleet = {
    repository,
    branch: place.branch,
    commit,
    evaluation,
    audit,
    policies,
    access,
    trail: outbox ? 'on' : 'off',
  } as const
  const at = new Date().toISOString()
  const page = await inTurns(fleetPageOf(fleet, { owner, repo, repositoryId, visibility, at }))
  if (!(await pages.store.keep(page))) throw new Error('the page is too large')
}

/** In portions, so that pull requests are evaluated in between. The verdict already reports what the thread refuses. */
async function askOverview(evaluator: WorkerContext['evaluator'], head: RevisionSetSnapshot): Promise<Overview> {
  const namespaces: AccessView[] = []
  let found: Overview = { audit: [], policies: [], access: { namespaces, left: 0 } }
  for (let portion = 0; portion < MAX_PORTIONS; portion++) {
    const answer = await evaluator.evaluate({ type: 'overview', head, from: namespaces.length })
    if (answer.type !== 'overviewed') return found
    namespaces.push(...answer.access.namespaces)
    const { left } = answer.access
    const { audit, policies } = portion === 0 ? answer : found
    found = { audit, policies, access: { namespaces, left } }
    if (left === 0 || answer.access.namespaces.length < WORTHWHILE) break
  }
  return found
}

interface Overview {
  readonly audit: readonly ClusterAudit[]
  readonly policies: readonly CoveredPolicy[]
  readonly access: AccessOverview
}

type PullContext = Pick<WorkerContext, 'pages' | 'queue' | 'log'>

/** Longer than a store that works ever takes. */
const KEEP_PULLS_LIMIT_MS = 5_000

/**
 * Lists an open pull request with its published verdict on the page of each fleet that it concerns, and on no other.
 * `own`: its own verdict, which names the fleets; `shown`: that of its check. Errors are only logged.
 */
export async function keepPull(
  { context, installation, repository }: Case,
  pull: ListedPullRequest,
  {
    own,
    shown,
    page,
  }: { readonly own: CommitOutcome; readonly shown: CommitOutcome; readonly page: string | undefined },
): Promise<void> {
  await changed(context, installation.id, async store => {
    const fleets = own.fleets ?? (await fleetsWithout(installation, repository, own))
    const { publicUrl = '' } = context.pages
    const path = page?.startsWith(`${publicUrl}/`) ? { path: page.slice(publicUrl.length) } : {}
    const { conclusion, title } = checkRunOf(shown.outcome, shown.context)
    const verdict = {
      conclusion,
      title,
      isError: decisionOf(shown).severity > 1,
      at: new Date().toISOString(),
      ...path,
    }
    const row = { ...rowOf(repository, pull, tenantsOf(own)), verdict }
    const listed: string[] = []
    for (const { repository: fleet } of fleets) {
      if (await isNarrower(installation, fleet, repository)) continue
      listed.push(fleet.url)
      await store.keep(fleet, pulls => withPull(pulls, { ...row, visibility: fleet.visibility }))
    }
    await store.drop({ owner: repository.owner, repo: repository.repo, number: pull.number }, listed)
  })
}

/** Removes a pull request that was closed, or gets no check, from the pages of fleets. */
export async function dropPull(
  context: PullContext,
  { installation, owner, repo }: RepositoryName & { readonly installation: number },
  number: number,
): Promise<void> {
  await changed(context, installation, store => store.drop({ owner, repo, number }, []))
}

/** An open pull request that gets a check. */
interface FoundPull {
  readonly repository: Repository
  readonly pull: ListedPullRequest
}

/** Updates the lists of open pull requests to what GitHub lists: `found` are all that get a check. */
export async function settlePulls(
  context: PullContext,
  installation: Installation,
  fleets: readonly StandingFleet[],
  found: readonly FoundPull[],
): Promise<void> {
  await changed(context, installation.id, async store => {
    for (const fleet of fleets) {
      const { repository: place } = fleet.place
      const rows: PullRow[] = []
      for (const { repository, pull } of found) {
        const decides = headsThatDecide([fleet], { url: repository.url, branch: pull.base.ref }).length > 0
        if (!decides || (await isNarrower(installation, place, repository))) continue
        rows.push({ ...rowOf(repository, pull, []), visibility: place.visibility })
      }
      await store.keep(place, pulls => settledPulls(pulls, rows, new Date().toISOString()))
    }
  })
}

const rowOf = ({ owner, repo }: Repository, pull: ListedPullRequest, tenants: readonly string[]) => ({
  ...{ owner, repo, number: pull.number, title: pull.title, author: pull.author?.login ?? '', base: pull.base.ref },
  ...{ isDraft: pull.draft, headSha: pull.head.sha, tenants },
})

/** Tenants whose objects it changes, and those with new findings. */
function tenantsOf({ outcome, context: { changes, audience = [] } }: CommitOutcome): string[] {
  const found =
    outcome === undefined || outcome instanceof BailiwickError
      ? []
      : [...outcome.violations, ...outcome.errors].filter(({ state }) => state === 'new')
  const own = (changes?.tenants ?? []).map(({ name }) => name)
  const names = [...own, ...[...(changes?.nodes ?? []), ...found].flatMap(({ tenant }) => tenant ?? [])]
  const touched = new Set(names.filter(name => name !== ''))
  return [...(touched.size > 0 ? touched : audience)].sort()
}

/** Without a known fleet: the pull request's own repository, or the only fleet if it could not be evaluated. */
async function fleetsWithout(
  installation: Installation,
  { url }: Repository,
  { outcome }: CommitOutcome,
): Promise<readonly FleetPlace[]> {
  const { fleets } = await installation.designation()
  const own = fleets.filter(({ repository }) => repository.url === url)
  if (own.length > 0) return own
  return outcome instanceof BailiwickError && fleets.length === 1 ? fleets : []
}

async function isNarrower(installation: Installation, fleet: Repository, source: Repository) {
  return (await narrowerSources(installation, fleet.url, [source.url])).length > 0
}

/** Changes the lists of one installation, under a lock. */
interface PullLists {
  keep(fleet: Repository, change: (pulls: FleetPulls) => FleetPulls): Promise<void>
  /** Removes a pull request from every list but those of the fleets at these addresses. */
  drop(pull: Pick<PullRow, 'owner' | 'repo' | 'number'>, but: readonly string[]): Promise<void>
}

async function changed(
  { pages: { store, publicUrl }, queue, log }: PullContext,
  installation: number,
  work: (lists: PullLists) => Promise<void>,
): Promise<void> {
  if (publicUrl === undefined) return
  const lists: PullLists = {
    keep: async ({ owner, repo, id: repositoryId, url }, change) => {
      const stored = await store.pulls(owner, repo)
      const fresh = { owner, repo, repositoryId, rows: [], left: 0 }
      await store.keepPulls(change(stored?.repositoryId === repositoryId ? stored : fresh))
      const known = await store.pullLists(installation)
      if (!known.some(one => one.url === url)) await store.keepPullLists(installation, [...known, { owner, repo, url }])
    },
    drop: async (pull, but) => {
      for (const { owner, repo, url } of await store.pullLists(installation)) {
        const stored = but.includes(url) ? undefined : await store.pulls(owner, repo)
        if (!stored) continue
        const left = withoutPull(stored, pull)
        if (left.rows.length < stored.rows.length) await store.keepPulls(left)
      }
    },
  }
  const job = queue.withLock(`pulls ${installation}`, () => work(lists))
  const done = await within(KEEP_PULLS_LIMIT_MS, job).catch(err =>
    log.warn({ err }, 'list of pull requests could not be stored'),
  )
  if (done === 'late') log.warn({ installation }, 'list of pull requests takes long to be stored')
}
