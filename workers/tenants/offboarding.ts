import { hash } from 'node:crypto'
import { listOurCheckRuns, publishCheckRun } from '../../src/github/checks.ts'
import { isTitleOf, listDeployKeys } from '../../src/github/deploy-keys.ts'
import { listAllOwnPulls, type OpenedPullRequest, type OwnPull, readOwnPull } from '../../src/github/own-pulls.ts'
import { type PullRequest, readPullRequest } from '../../src/github/pull-request.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import type { Attempt, SettleOffboarding } from '../../src/receive/queue.ts'
import { applyRunName } from '../../src/report/apply-report.ts'
import { OVERRIDE_RUN, overrideRecord, PRUNE_RUN, pruneRecord } from '../../src/surface/command/record.ts'
import { type OffboardPlan, offboardText, waitingText } from '../../src/tenants/offboard/plan.ts'
import {
  type OffboardRecord,
  type OffboardRequest,
  type OffboardStage,
  offboardInput,
  offboardMarker,
  readOffboardMarker,
} from '../../src/tenants/offboard/request.ts'
import { MAX_PRINTS } from '../../src/verdict/change-prunes.ts'
import { askThread } from '../fleets/evaluate-revision-set.ts'
import { administer, openWritable } from '../fleets/github-installation.ts'
import { findRepository } from '../fleets/source-reader.ts'
import type { Case, WorkerContext, WritableCase } from '../fleets/worker-context.ts'
import { evaluatePullRequest } from '../gate/evaluate-pull-request.ts'
import { isFleetAdmin } from '../gate/missing-approvals.ts'
import { openRecordedPull, recordDecision, removeRecordedKey } from '../gate/record-decision.ts'

/** A pull request of ours that offboards a tenant. */
interface OffboardPull {
  readonly pull: OwnPull
  readonly record: OffboardRecord
}

/**
 * Does the next step of an offboarding, by the present state of the fleet and GitHub. `isContinued`: a fleet admin
 * confirms that the first change is applied everywhere. Returns why it waits; undefined if a pull request is open.
 */
export async function advanceOffboarding(
  here: WritableCase,
  asked: OffboardAsk,
  isContinued: boolean,
): Promise<string | undefined> {
  const plan = await planOf(here, asked)
  if (plan.stage === 'done') {
    throw offboardInput(
      `the fleet has nothing of tenant ${asked.tenant} there`,
      'Check the names with `bailiwick access`.',
    )
  }
  const isFirst = plan.stage === 'workloads'
  if (isFirst && isContinued)
    throw offboardInput('the workloads are still in the fleet', 'Merge the first pull request first.')
  const last = isFirst ? undefined : await mergedFirst(here, asked)
  const waits = isContinued || !last ? [] : await waitingClusters(here, last.pull, last.record.on)
  if (waits.length > 0) return waitingText(asked, waits)
  await openOffboarding(here, asked, plan)
  return undefined
}

/** The next change, by the fleet's branch as it is now. */
async function planOf(fleet: Case, asked: OffboardRequest): Promise<OffboardPlan> {
  return (await askThread(fleet, { type: 'offboard', request: requestOf(asked) }, 'offboard-layout')).plan
}

/** What a pull request of ours offboards; only our App can have written its record. */
function recordOf({ context, repository: fleet }: Case, pull: OwnPull) {
  const record = readOffboardMarker(pull.body, context.config.privateKey)
  return record?.fleet === fleet.id ? record : undefined
}

/** The first change of the same offboarding, if it was merged: the latest. */
async function mergedFirst(here: WritableCase, asked: OffboardAsk): Promise<OffboardPull | undefined> {
  const branch = offboardingBranch(asked, 'workloads')
  const pulls = await listAllOwnPulls(here, branch)
  return pulls.flatMap(pull => {
    const record = pull.state === 'merged' && pull.branch === branch ? recordOf(here, pull) : undefined
    return record ? [{ pull, record }] : []
  })[0]
}

/** Whether people merged or closed that stage's pull request, after the one before: only a command opens another. */
async function isDecided(here: Case, asked: OffboardAsk, stage: OffboardStage, before: number): Promise<boolean> {
  const branch = offboardingBranch(asked, stage)
  const pulls = await listAllOwnPulls(here, branch)
  return pulls.some(one => one.branch === branch && one.state !== 'open' && one.number > before)
}

/**
 * Opens the pull request of a planned change, and records on its commit that the fleet admin who asked for it approves what
 * it deletes. A crash in between leaves a pull request that the next attempt completes.
 */
async function openOffboarding(here: WritableCase, asked: OffboardAsk, plan: OffboardPlan): Promise<void> {
  const { context, writer, repository: fleet } = here
  if (plan.stage === 'done') throw new TypeError('there is nothing to open')
  const text = offboardText(asked, plan)
  const { by, comment, issue, at } = asked
  const record = {
    ...{ fleet: fleet.id, ...requestOf(asked), stage: plan.stage, on: plan.clusters, sources: plan.sources },
    ...{ by, comment, issue, at },
  }
  const marker = offboardMarker(record, context.config.privateKey)
  const opened = await openRecordedPull(writer, {
    base: fleet.defaultBranch,
    branch: offboardingBranch(asked, plan.stage),
    files: plan.files,
    title: text.title,
    body: `${text.body}\n\nRequested by @${by} in #${issue}.${AGREED}\n\n${marker}`,
    message: `${text.title}\n\n${marker}`,
  })
  await approve(here, asked, opened)
}

const AGREED =
  ' The check finds what this change takes away. The command of a fleet admin agrees to it, for exactly this commit. If the check blocks all the same, a fleet admin comments `/bailiwick override REASON`.'

/** The admin's approval counts for exactly the commit that was made for it. */
async function approve(here: WritableCase, asked: OffboardAsk, opened: OpenedPullRequest): Promise<void> {
  const { context, writer, installation, repository, owner, repo } = here
  const { by, at, comment } = asked
  const pull = await readPullRequest(here, opened.number)
  if (pull?.state !== 'open' || pull.head.sha !== opened.head) return
  if (!(await isFleetAdmin(installation, { repository, branch: repository.defaultBranch }, by))) return
  const { prunes } = (await evaluatePullRequest(here, pull)).context
  const common = { headSha: opened.head, conclusion: 'success' as const, annotations: [] }
  if (prunes && prunes.prints.length <= MAX_PRINTS) {
    const { digest, prints } = prunes
    await publishCheckRun(writer, {
      ...pruneRecord({ by, at, digests: [digest], pull: pull.number, prints }),
      ...common,
      name: PRUNE_RUN,
      externalId: `approve-prune:${comment}`,
    })
    await recordWord(here, 'approve-prune', by, pull)
  }
  const reason = `offboarding of tenant ${asked.tenant}, in two pull requests that Bailiwick wrote`
  await publishCheckRun(writer, {
    ...overrideRecord({ by, reason, at, pull: pull.number, base: pull.base.ref }, opened.head),
    ...common,
    name: OVERRIDE_RUN,
    externalId: `override:${comment}`,
  })
  await recordWord(here, 'override', by, pull)
  await context.queue.add('validate-pull-request', { installation: installation.id, owner, repo, pull: pull.number })
}

/** Records that an admin's decision applies to a commit of the App as if the admin had made it there. */
async function recordWord(
  { context, installation, repository, owner, repo }: Case,
  kind: 'override' | 'approve-prune',
  who: string,
  { number: pull, head }: PullRequest,
): Promise<void> {
  const about = { repository: `${owner}/${repo}`, commit: head.sha, pull }
  const id = `${kind} ${about.repository}@${about.commit} ${who}`
  await recordDecision(
    context,
    { installation: installation.id, url: repository.url },
    { ...about, id, kind, who, result: 'done', revisions: [], digest: hash('sha256', id) },
    { once: true },
  )
}

/** The branches of these changes; src/receive/received-events.ts lists it too. */
const BRANCH = 'bailiwick/offboard-'

export const isOffboarding = (branch: string): boolean => branch.startsWith(BRANCH)

/** The branch of one of the changes; another set of clusters is another offboarding. */
function offboardingBranch({ tenant, clusters }: OffboardRequest, stage: string): string {
  const id = hash('sha256', JSON.stringify([tenant, clusters])).slice(0, 8)
  return `${BRANCH}${tenant}-${id}-${stage}`
}

/** The request without the person who made it. */
export const requestOf = ({ tenant, clusters }: OffboardRequest): OffboardRequest => ({ tenant, clusters })

/** Who asked for an offboarding, and where. */
type OffboardAsk = OffboardRequest & Pick<OffboardRecord, 'by' | 'comment' | 'issue' | 'at'>

/**
 * Goes on with an offboarding after a merge: opens the next pull request when the last is applied on every cluster, and
 * deletes the tenant's deploy keys when the tenant is on no cluster anymore. Doing it twice has no further effect.
 */
export async function settleOffboarding(
  context: WorkerContext,
  data: SettleOffboarding,
  attempt: Attempt,
): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const pull = await readOwnPull({ ...data, octokit: reader, app: await context.app.identity() }, data.pull)
  const here = pull?.state === 'merged' ? await openWritable(context, data, attempt, reader) : undefined
  const record = pull && here && recordOf(here, pull)
  if (!record) return
  await context.queue.withLock(`offboard ${here.repository.id} ${record.tenant}`, async () => {
    const { stage } = await planOf(here, record)
    if (record.stage === 'rest') await removeDeployKeys(here, record)
    // in any other stage a command tells what to do
    else if (stage === 'rest' && !(await isDecided(here, record, stage, pull.number)))
      await advanceOffboarding(here, record, false)
  })
}

/** A tenant that stays on a cluster keeps its key. */
async function removeDeployKeys(here: Case, { tenant, sources }: OffboardRecord): Promise<void> {
  const { context, installation, octokit } = here
  if ((await planOf(here, { tenant, clusters: [] })).stage !== 'done') return
  if (!(await context.app.mayAdminister(installation.id))) {
    context.log.warn({ tenant }, 'deploy keys were not deleted: the App may not administer repositories')
    return
  }
  const owner = { tenant, fleet: `${here.owner}/${here.repo}` }
  for (const url of sources) {
    const found = await findRepository(installation, { url: normaliseUrl(url) })
    if (!found) continue
    const listed = await listDeployKeys({ ...found, octokit })
    const keys = listed.filter(({ readOnly, title }) => readOnly && isTitleOf(title, owner))
    if (keys.length === 0) continue
    // already deleted ones are not an error
    await administer(here, found, async writer => {
      for (const { key } of keys) await removeRecordedKey(writer, key)
    })
  }
}

/** A cluster that may lack a merged change. `isApplied`: a worker of ours applies there, and reports it. */
interface WaitingCluster {
  readonly cluster: string
  readonly isApplied: boolean
}

/** The clusters that have not applied a merged pull request yet, by our own check runs. */
async function waitingClusters(
  here: Case,
  { mergeCommit }: OwnPull,
  clusters: readonly string[],
): Promise<WaitingCluster[]> {
  const { context, installation, repository: fleet } = here
  const head = await installation.head(fleet, { branch: fleet.defaultBranch })
  const commits = new Set([mergeCommit, head].filter(sha => sha !== undefined))
  const runs = (await Promise.all([...commits].map(sha => listOurCheckRuns(here, sha)))).flat()
  return clusters.flatMap((cluster): WaitingCluster[] => {
    const binding = context.bindings.find(
      ({ name, fleet: url, branch }) => name === cluster && url === fleet.url && branch === fleet.defaultBranch,
    )
    if (binding?.mode !== 'reconcile') return [{ cluster, isApplied: false }]
    const isDone = runs.some(({ name, conclusion }) => name === applyRunName(cluster) && conclusion === 'success')
    return isDone ? [] : [{ cluster, isApplied: true }]
  })
}
