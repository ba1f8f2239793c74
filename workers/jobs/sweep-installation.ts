import { hash } from 'node:crypto'
import { listOurCheckRuns } from '../../src/github/checks.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import { listOwnPulls } from '../../src/github/own-pulls.ts'
import type { Attempt, SweepInstallation } from '../../src/receive/queue.ts'
import { BRANCH_CHECK_NAME } from '../../src/verdict/check-names.ts'
import { readFleets } from '../fleets/evaluate-revision-set.ts'
import { caseOf, githubInstallation } from '../fleets/github-installation.ts'
import type { Case, WorkerContext } from '../fleets/worker-context.ts'
import { forgetRules, headKey, headsThatDecide, readBases, type StandingHead, standingHeads } from '../gate/bases.ts'
import { settlePulls } from '../gate/keep-pages.ts'
import {
  begun,
  type SettledPull,
  type Staleness,
  settleRepository,
  stalenessOf,
  stalenessOfChecks,
  sweepAfterPause,
} from '../gate/settle.ts'
import { isUnchanged } from '../gate/unchanged-verdict.ts'
import { isOffboarding } from '../tenants/offboarding.ts'
import { leftKeys } from '../tenants/open-onboarding.ts'

/**
 * Finds missing and outdated verdicts of one installation, on branches that a fleet reads and on open pull requests
 * into gated bases. It first updates the names of our check runs to GitHub's current rules, then enqueues the
 * evaluations.
 */
export async function sweepInstallation(
  context: WorkerContext,
  { installation: id }: SweepInstallation,
  attempt: Attempt,
): Promise<void> {
  const installation = githubInstallation(context, id, await context.app.reader(id))
  await forgetRules(context.queue, id)
  const repositories = (await installation.repositories()).filter(({ archived }) => !archived)
  const fleets = await readFleets(context, installation)
  const found: FoundPull[] = []
  for (const repository of repositories) {
    const subject = await caseOf(context, attempt, installation, repository)
    const settled = await settleRepository(subject, await readBases(subject, fleets))
    found.push(...settled.filter(({ checks }) => checks.length > 0).map(one => ({ ...one, repository })))
  }
  await settlePulls(context, installation, fleets, found)
  const places = (await installation.designation()).fleets.map(({ repository }) => repository)
  for (const one of new Map(places.map(place => [place.id, place])).values())
    await askForClosed(await caseOf(context, attempt, installation, one))
  const cases = await Promise.all(repositories.map(one => caseOf(context, attempt, installation, one)))
  const evaluatedAt = await evaluatedHeads(cases, standingHeads(fleets))
  const slow: FoundPull[] = []
  for (const one of found) {
    const { repository, pull, checks, runs } = one
    const deciding = headsThatDecide(fleets, { url: repository.url, branch: pull.base.ref })
    const since = Math.max(0, ...deciding.map(head => evaluatedAt.get(headKey(head)) ?? 0))
    const { staleness, run } = stalenessOfChecks(checks, runs, since)
    if (staleness === 'slowly') slow.push(one)
    // a repeated evaluation with the same result keeps its run: once is enough
    const isRepeated = staleness === 'old' && !context.memory.isNew(nameOf(one), `${run?.id} ${since}`)
    const subject = cases.find(each => each.repository.id === repository.id)
    const isSame = staleness === 'old' && !isRepeated && subject && (await isUnchanged(subject, pull))
    if (isDue(staleness) && !isRepeated && !isSame) await evaluatePull(context, id, one, 0)
  }
  await sweepAfterPause(context, installation)
  for (const one of slow) await evaluatePull(context, id, one, slowTurn(nameOf(one), slow.length, Date.now()))
}

/** Pages of a hundred pull requests that a sweep reads; older ones wait for the next event or command about them. */
const SWEPT_PAGES = 10

/** The prefix of all our branches. */
const OUR_BRANCHES = 'bailiwick/'

/** Offboardings that may continue, and onboardings that were closed without a merge and without an event. */
async function askForClosed(fleet: Case): Promise<void> {
  const { context, installation: here, owner, repo } = fleet
  const { queue, log } = context
  const installation = here.id
  const { pulls, isAll } = await listOwnPulls(fleet, OUR_BRANCHES, SWEPT_PAGES)
  if (!isAll) log.info({ owner, repo }, `only the ${SWEPT_PAGES * 100} pull requests that changed last were looked at`)
  for (const { number: pull, branch, state } of pulls) {
    if (state === 'merged' && isOffboarding(branch)) {
      await queue.add('settle-offboarding', { installation, owner, repo, pull })
    }
  }
  for (const { number: pull } of await leftKeys(fleet, pulls)) {
    await queue.add('withdraw-access', { installation, owner, repo, pull })
  }
}

interface FoundPull extends SettledPull {
  readonly repository: Repository
}

const isDue = (staleness: Staleness) => staleness === 'missing' || staleness === 'old'

/** When the verdict on each of these heads was begun; a missing one is enqueued. */
async function evaluatedHeads(
  cases: readonly Case[],
  heads: readonly StandingHead[],
): Promise<ReadonlyMap<string, number>> {
  const evaluatedAt = new Map<string, number>()
  for (const head of heads) {
    const subject = cases.find(({ repository }) => repository.url === head.url)
    if (!subject) continue
    const run = (await listOurCheckRuns(subject, head.commit)).find(({ name }) => name === BRANCH_CHECK_NAME)
    evaluatedAt.set(headKey(head), begun(run))
    if (stalenessOf(run) !== 'missing') continue
    const { context, installation, owner, repo } = subject
    const push = { installation: installation.id, owner, repo, branch: head.branch, sha: head.commit }
    await context.queue.add('validate-push', push)
  }
  return evaluatedAt
}

async function evaluatePull(
  { queue }: WorkerContext,
  installation: number,
  { repository, pull }: FoundPull,
  delayMs: number,
): Promise<void> {
  const data = { installation, owner: repository.owner, repo: repository.repo, pull: pull.number }
  await queue.add('validate-pull-request', data, { delayMs })
}

const nameOf = ({ repository, pull }: FoundPull) => `${repository.id}#${pull.number}`

const MINUTE = 60_000
const HOUR_MINUTES = 60
/** An average that keeps an hour below about sixty, because minutes are drawn, not counted. */
const PER_HOUR = 45

/**
 * The delay before a pull request is evaluated again by a newer version, in ms. The delays are spread by name, one pull
 * request per minute, over as many hours as needed. Nothing is stored: every process computes the same minute.
 */
export function slowTurn(name: string, many: number, now: number): number {
  const minutes = HOUR_MINUTES * Math.max(1, Math.ceil(many / PER_HOUR))
  const own = hash('sha256', name, 'buffer').readUInt32BE(0) % minutes
  const present = Math.floor(now / MINUTE) % minutes
  const ahead = (own - present + minutes) % minutes
  return ahead === 0 ? 0 : ahead * MINUTE - (now % MINUTE)
}
