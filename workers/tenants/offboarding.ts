import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import { fixOf, typedMessage } from '../../src/base/message.ts'
import { listOurCheckRuns, publishCheckRun } from '../../src/github/checks.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { type ListedDeployKey, listDeployKeys } from '../../src/github/deploy-keys.ts'
import { listAllOwnPulls, type OpenedPullRequest, type OwnPull, readOwnPull } from '../../src/github/own-pulls.ts'
import { type PullRequest, readPullRequest } from '../../src/github/pull-request.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import type { Attempt, SettleOffboarding } from '../../src/receive/queue.ts'
import { applyRunName } from '../../src/report/apply-report.ts'
import { OVERRIDE_RUN, overrideRecord, PRUNE_RUN, pruneRecord } from '../../src/surface/command/record.ts'
import { isTitleOf } from '../../src/tenants/credential-entries.ts'
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
import { openRepository } from '../fleets/github-installation.ts'
import { findRepository } from '../fleets/source-reader.ts'
import type { Installation, ReadableRepository, WorkerContext } from '../fleets/worker-context.ts'
import { evaluatePullRequest } from '../gate/evaluate-pull-request.ts'
import { isFleetAdmin } from '../gate/missing-approvals.ts'
import { openPlace, type PublishTarget } from '../gate/publish-verdict.ts'
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
  here: OffboardingPlace,
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
async function planOf(
  { context, installation, fleet }: Pick<OffboardingPlace, 'context' | 'installation' | 'fleet'>,
  asked: OffboardRequest,
): Promise<OffboardPlan> {
  const branch = fleet.defaultBranch
  const commit = await installation.head(fleet, { branch })
  if (!commit) throw new BailiwickError('offboard-layout', 'this repository is empty, so there is no fleet')
  const tree = await installation.content(fleet, commit)
  const request = requestOf(asked)
  const answer = await context.evaluator.evaluate({ type: 'offboard', request, tree, url: fleet.url, branch })
  if (answer.type === 'refused') throw new BailiwickError(answer.code, typedMessage(answer), { fix: fixOf(answer) })
  if (answer.type !== 'offboard') throw new TypeError(`the rendering thread answered ${answer.type}`)
  return answer.plan
}

/** What a pull request of ours offboards; only our App can have written its record. */
function recordOf({ context, fleet }: Pick<OffboardingPlace, 'context' | 'fleet'>, pull: OwnPull) {
  const record = readOffboardMarker(pull.body, context.config.privateKey)
  return record?.fleet === fleet.id ? record : undefined
}

/** The first change of the same offboarding, if it was merged: the latest. */
async function mergedFirst(here: OffboardingPlace, asked: OffboardAsk): Promise<OffboardPull | undefined> {
  const branch = offboardingBranch(asked, 'workloads')
  const pulls = await listAllOwnPulls(here.reader, here.place.app, here.place, branch)
  return pulls.flatMap(pull => {
    const record = pull.state === 'merged' && pull.branch === branch ? recordOf(here, pull) : undefined
    return record ? [{ pull, record }] : []
  })[0]
}

/** Whether people merged or closed that stage's pull request, after the one before: only a command opens another. */
async function isDecided(
  here: OffboardingPlace,
  asked: OffboardAsk,
  stage: OffboardStage,
  before: number,
): Promise<boolean> {
  const branch = offboardingBranch(asked, stage)
  const pulls = await listAllOwnPulls(here.reader, here.place.app, here.place, branch)
  return pulls.some(one => one.branch === branch && one.state !== 'open' && one.number > before)
}

/**
 * Opens the pull request of a planned change, and records on its commit that the fleet admin who asked for it approves what
 * it deletes. A crash in between leaves a pull request that the next attempt completes.
 */
async function openOffboarding(
  here: OffboardingPlace,
  asked: OffboardAsk,
  plan: OffboardPlan,
): Promise<OpenedPullRequest> {
  const { context, place, fleet } = here
  if (plan.stage === 'done') throw new TypeError('there is nothing to open')
  const text = offboardText(asked, plan)
  const { by, comment, issue, at } = asked
  const record = {
    ...{ fleet: fleet.id, ...requestOf(asked), stage: plan.stage, on: plan.clusters, sources: plan.sources },
    ...{ by, comment, issue, at },
  }
  const marker = offboardMarker(record, context.config.privateKey)
  const opened = await openRecordedPull(
    { context, app: place.app, fleet: { installation: here.installation.id, url: fleet.url } },
    place.octokit,
    place,
    {
      base: fleet.defaultBranch,
      branch: offboardingBranch(asked, plan.stage),
      files: plan.files.flatMap(({ path, content }) => (content === null ? [] : [{ path, content }])),
      removed: plan.files.flatMap(({ path, content }) => (content === null ? [path] : [])),
      title: text.title,
      body: `${text.body}\n\nRequested by @${by} in #${issue}.${AGREED}\n\n${marker}`,
      message: `${text.title}\n\n${marker}`,
    },
  )
  await approve(here, asked, opened)
  return opened
}

const AGREED =
  ' The check finds what this change takes away. The command of a fleet admin agrees to it, for exactly this commit. If the check blocks all the same, a fleet admin comments `/bailiwick override REASON`.'

/** The admin's approval counts for exactly the commit that was made for it. */
async function approve(here: OffboardingPlace, asked: OffboardAsk, opened: OpenedPullRequest) {
  const { context, place, reader, installation, fleet, attempt } = here
  const { by, at, comment } = asked
  const pull = await readPullRequest(reader, place, opened.number)
  if (pull?.state !== 'open' || pull.head.sha !== opened.head) return
  if (!(await isFleetAdmin({ installation, octokit: reader }, { repository: fleet, branch: fleet.defaultBranch }, by)))
    return
  const subject = { installation, repository: fleet, octokit: reader }
  const { prunes } = (await evaluatePullRequest(context, subject, pull, attempt)).context
  const common = { headSha: opened.head, conclusion: 'success' as const, annotations: [] }
  if (prunes && prunes.prints.length <= MAX_PRINTS) {
    const { digest, prints } = prunes
    await publishCheckRun(place.octokit, place.app, place, {
      ...pruneRecord({ by, at, digests: [digest], pull: pull.number, prints }),
      ...common,
      name: PRUNE_RUN,
      externalId: `approve-prune:${comment}`,
    })
    await recordWord(here, 'approve-prune', by, pull)
  }
  const reason = `offboarding of tenant ${asked.tenant}, in two pull requests that Bailiwick wrote`
  await publishCheckRun(place.octokit, place.app, place, {
    ...overrideRecord({ by, reason, at, pull: pull.number, base: pull.base.ref }, opened.head),
    ...common,
    name: OVERRIDE_RUN,
    externalId: `override:${comment}`,
  })
  await recordWord(here, 'override', by, pull)
  await evaluateAgain(here, pull)
}

async function evaluateAgain({ context, installation, place }: OffboardingPlace, { number: pull }: PullRequest) {
  const { owner, repo } = place
  await context.queue.add('validate-pull-request', { installation: installation.id, owner, repo, pull })
}

/** Records that an admin's decision applies to a commit of the App as if the admin had made it there. */
async function recordWord(
  { context, installation, fleet, place }: OffboardingPlace,
  kind: 'override' | 'approve-prune',
  who: string,
  { number: pull, head }: PullRequest,
): Promise<void> {
  const about = { repository: `${place.owner}/${place.repo}`, commit: head.sha, pull }
  const id = `${kind} ${about.repository}@${about.commit} ${who}`
  await recordDecision(
    context,
    { installation: installation.id, url: fleet.url },
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

/** A fleet that a tenant leaves. */
interface OffboardingPlace {
  readonly context: WorkerContext
  /** Of the fleet, for writing. */
  readonly place: PublishTarget
  readonly reader: Octokit
  readonly installation: Installation
  readonly fleet: ReadableRepository
  readonly attempt: Attempt
}

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
  const pull = await readOwnPull(reader, await context.app.identity(), data, data.pull)
  const subject = pull?.state === 'merged' ? await openRepository(context, data, reader) : undefined
  if (!pull || !subject) return
  const { installation, repository: fleet } = subject
  const record = recordOf({ context, fleet }, pull)
  if (!record) return
  const here = { context, place: await openPlace(context, data, fleet.id), reader, installation, fleet, attempt }
  await context.queue.withLock(`offboard ${fleet.id} ${record.tenant}`, async () => {
    const { stage } = await planOf(here, record)
    if (record.stage === 'rest') await removeDeployKeys(here, record)
    // in any other stage a command tells what to do
    else if (stage === 'rest' && !(await isDecided(here, record, stage, pull.number)))
      await advanceOffboarding(here, record, false)
  })
}

/** A tenant that stays on a cluster keeps its key. */
async function removeDeployKeys(here: OffboardingPlace, { tenant, sources }: OffboardRecord): Promise<void> {
  const { context, installation } = here
  if ((await planOf(here, { tenant, clusters: [] })).stage !== 'done') return
  if (!(await context.app.mayAdminister(installation.id))) {
    context.log.warn({ tenant }, 'deploy keys were not deleted: the App may not administer repositories')
    return
  }
  for (const url of sources) {
    const found = await findRepository(installation, { url: normaliseUrl(url) })
    if (!found) continue
    const repository = { owner: found.owner, repo: found.name, id: found.id }
    const keys = await keysOfTenant(here, repository, tenant)
    if (keys.length > 0) {
      await removeKeys(
        here,
        repository,
        keys.map(({ key }) => key),
      )
    }
  }
}

/** Keys of a repository that are this tenant's by their title. */
async function keysOfTenant(
  { reader, place }: Pick<OffboardingPlace, 'reader' | 'place'>,
  repository: RepositoryName,
  tenant: string,
): Promise<ListedDeployKey[]> {
  const owner = { tenant, fleet: `${place.owner}/${place.repo}` }
  return (await listDeployKeys(reader, repository)).filter(one => one.readOnly && isTitleOf(one.title, owner))
}

/** Deletes keys of a repository; already deleted ones are not an error. */
async function removeKeys(
  { context, installation, place, fleet }: OffboardingPlace,
  repository: RepositoryName & { readonly id: number },
  keys: readonly string[],
): Promise<void> {
  const act = { context, app: place.app, fleet: { installation: installation.id, url: fleet.url } }
  await context.app.administer(installation.id, repository.id, async octokit => {
    for (const key of keys) await removeRecordedKey(act, octokit, repository, key)
  })
}

interface FleetOf {
  readonly context: WorkerContext
  readonly place: RepositoryName & { readonly app: AppIdentity }
  readonly reader: Octokit
  readonly installation: Installation
  readonly fleet: ReadableRepository
}

/** A cluster that may lack a merged change. `isApplied`: a worker of ours applies there, and reports it. */
interface WaitingCluster {
  readonly cluster: string
  readonly isApplied: boolean
}

/** The clusters that have not applied a merged pull request yet, by our own check runs. */
async function waitingClusters(
  { context, reader, place, installation, fleet }: FleetOf,
  { mergeCommit }: OwnPull,
  clusters: readonly string[],
): Promise<WaitingCluster[]> {
  const head = await installation.head(fleet, { branch: fleet.defaultBranch })
  const commits = new Set([mergeCommit, head].filter(sha => sha !== undefined))
  const runs = (await Promise.all([...commits].map(sha => listOurCheckRuns(reader, place.app, place, sha)))).flat()
  return clusters.flatMap((cluster): WaitingCluster[] => {
    const binding = context.bindings.find(
      ({ name, fleet: url, branch }) => name === cluster && url === fleet.url && branch === fleet.defaultBranch,
    )
    if (binding?.mode !== 'reconcile') return [{ cluster, isApplied: false }]
    const isDone = runs.some(({ name, conclusion }) => name === applyRunName(cluster) && conclusion === 'success')
    return isDone ? [] : [{ cluster, isApplied: true }]
  })
}
