import { BailiwickError } from '../../src/errors.ts'
import type { RepositoryName } from '../../src/github/client/octokit.ts'
import type { ListedPullRequest } from '../../src/github/pulls/pull-request.ts'
import { within } from '../../src/queue/within.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import {
  type FleetPulls,
  type PullRow,
  settledPulls,
  withoutPull,
  withPull,
} from '../../src/report/page/fleet-pulls.ts'
import type { Installation } from '../context/installation.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { FleetPlace, ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from '../evaluate/commit-outcome.ts'
import { decisionOf } from '../evaluate/decision-of.ts'
import { narrowerSources } from '../fleets/narrower-sources.ts'
import type { StandingFleet } from '../fleets/read-fleets.ts'
import { headsThatDecide } from './standing-heads.ts'

type PullContext = Pick<WorkerContext, 'pages' | 'queue' | 'log'>

/** Longer than a store that works ever takes. */
const LIMIT_MS = 5_000

/**
 * Lists an open pull request with its published verdict on the page of each fleet that it concerns, and on no other. `own`: its own
 * verdict, which names the fleets; `shown`: what its check says. Errors are only logged: the verdict is published.
 */
export async function keepPull(
  context: PullContext,
  { installation, repository }: OpenedRepository,
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
    await store.drop({ owner: repository.owner, repo: repository.name, number: pull.number }, listed)
  })
}

/** Takes a pull request that is not open any more, or gets no check, off the pages of fleets. */
export async function dropPull(
  context: PullContext,
  { installation, owner, repo }: RepositoryName & { readonly installation: number },
  number: number,
): Promise<void> {
  await changed(context, installation, store => store.drop({ owner, repo, number }, []))
}

/** An open pull request that gets a check. */
interface FoundPull {
  readonly repository: ReadableRepository
  readonly pull: ListedPullRequest
}

/** Brings the lists of open pull requests in line with what GitHub lists: `found` are all that get a check. */
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

const rowOf = ({ owner, name: repo }: ReadableRepository, pull: ListedPullRequest, tenants: readonly string[]) => ({
  ...{ owner, repo, number: pull.number, title: pull.title, author: pull.author?.login ?? '', base: pull.base.ref },
  ...{ isDraft: pull.draft, headSha: pull.head.sha, tenants },
})

/** Tenants whose objects it changes, and those with something new found. */
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

/** Of a pull request of which no fleet is known: its own repository, or the only fleet where it could not be evaluated. */
async function fleetsWithout(
  installation: Installation,
  { url }: ReadableRepository,
  { outcome }: CommitOutcome,
): Promise<readonly FleetPlace[]> {
  const { fleets } = await installation.designation()
  const own = fleets.filter(({ repository }) => repository.url === url)
  if (own.length > 0) return own
  return outcome instanceof BailiwickError && fleets.length === 1 ? fleets : []
}

async function isNarrower(installation: Installation, fleet: ReadableRepository, source: ReadableRepository) {
  return (await narrowerSources(installation, fleet.url, [source.url])).length > 0
}

/** What changes the lists of one installation; nobody else changes them meanwhile. */
interface PullLists {
  keep(fleet: ReadableRepository, change: (pulls: FleetPulls) => FleetPulls): Promise<void>
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
    keep: async ({ owner, name: repo, id: repositoryId, url }, change) => {
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
  const done = await within(LIMIT_MS, job).catch(err => log.warn({ err }, 'list of pull requests could not be stored'))
  if (done === 'late') log.warn({ installation }, 'list of pull requests takes long to be stored')
}
