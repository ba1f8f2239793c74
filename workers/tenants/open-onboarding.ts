import { BailiwickError } from '../../src/base/errors.ts'
import { readCommit } from '../../src/github/contents/commits.ts'
import { readRepository } from '../../src/github/contents/repositories.ts'
import { type DeployKey, deployKeyTitle, isTitleOf, listDeployKeys } from '../../src/github/deploy-keys.ts'
import { listAllOwnPulls, type OpenedPullRequest, type OwnPull, readOwnPull } from '../../src/github/own-pulls.ts'
import { readRole } from '../../src/github/people.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import type { Attempt, WithdrawAccess } from '../../src/receive/queue.ts'
import {
  accessText,
  type DeployKeyRecord,
  deployKeyMarker,
  readDeployKeyMarker,
  refuseOwnApp,
} from '../../src/tenants/onboard/credential.ts'
import { pullRequestText } from '../../src/tenants/onboard/pull-request-text.ts'
import type { OnboardRequest } from '../../src/tenants/onboard/request.ts'
import { administer, openCase } from '../fleets/github-installation.ts'
import { nameAt } from '../fleets/source-reader.ts'
import type { Case, Installation, WorkerContext } from '../fleets/worker-context.ts'
import { addRecordedKey, openRecordedPull, publishApproval, removeRecordedKey } from '../gate/record-decision.ts'
import {
  type AccessQuestion,
  onboardingBranch,
  type PlannedAccess,
  type PreparedOnboarding,
  planReadAccess,
  planTenantKey,
  prepareOnboarding,
} from './onboarding-access.ts'

/**
 * Opens the pull request of an onboarding. Its requester may add tenants, so the request is the approval of its head.
 * `end`: the end of its text.
 */
export async function openWithAccess(question: AccessQuestion, end: string): Promise<OpenedPullRequest> {
  const { context, installation, owner, repo, writer, by, at, prepared } = question
  const opened = await openWithKeys(question, end)
  await publishApproval(writer, opened.head, { by, at, pull: opened.number, base: prepared.branch })
  const pull = { installation: installation.id, owner, repo, pull: opened.number }
  await context.queue.add('validate-pull-request', pull)
  return opened
}

/**
 * The same with the credentials that its tenant needs. The sealed key is committed before it is added to the repository:
 * a crash leaves a pull request that the next attempt completes, never a key whose private half is lost.
 */
async function openWithKeys(question: AccessQuestion, end: string): Promise<OpenedPullRequest> {
  refuseOwnApp(question.prepared.request, question.context.config.appId)
  const key = await planTenantKey(question)
  if (!key) return openAccess(question, end, '')
  const prepared =
    key.sealed === undefined ? question.prepared : await prepareAgain(question, { sealedKey: key.sealed })
  return openAccess({ ...question, prepared }, `${key.text}\n\n${end}`, key.marker)
}

/** `note`: for the commit. */
async function openAccess(question: AccessQuestion, end: string, note: string): Promise<OpenedPullRequest> {
  const { prepared, owner, repo } = question
  if (prepared.request.access === undefined) return openOnboarding(question, prepared, end, note)
  const planned = await planReadAccess(question)
  if (planned.state === 'by-hand') return openByHand(question, planned, end, note)
  const { sealed, file, repository, record, recipients, replaced } = planned
  const { context, by } = question
  const complete = await prepareAgain(question, { sealed })
  const outcome = { state: 'sealed', file, repository: prepared.request.url, key: record.key, recipients } as const
  const text = accessText(prepared.request, outcome)
  const marker = deployKeyMarker(record, context.config.privateKey)
  const opened = await openOnboarding(
    question,
    complete,
    `${text}\n\n${end}\n\n${marker}`,
    note === '' ? marker : `${marker}\n${note}`,
  )
  if (replaced) await forgetDeployKey(question, replaced)
  const named = { tenant: record.tenant, fleet: `${owner}/${repo}` }
  const title = deployKeyTitle(named, `requested by ${by}`)
  const added = await administer(question, repository, writer => addRecordedKey(writer, { title, key: record.key }))
  if (!added) {
    const why = `GitHub does not accept deploy keys for that repository. An organization owner can allow them in the settings of the organization under \`Deploy keys\`.`
    return openByHand(question, { state: 'by-hand', file, why }, end, note)
  }
  // a pull request that was closed meanwhile was closed before there was a key to delete
  const pull = await readOwnPull(question.writer, opened.number)
  if (pull?.state === 'closed') await forgetDeployKey(question, record)
  return opened
}

function openByHand(
  question: AccessQuestion,
  planned: Extract<PlannedAccess, { state: 'by-hand' }>,
  end: string,
  note: string,
): Promise<OpenedPullRequest> {
  const { prepared } = question
  return openOnboarding(question, prepared, `${accessText(prepared.request, planned)}\n\n${end}`, note)
}

/** The same onboarding with a sealed file among its files; it is rendered and compared again. */
async function prepareAgain(
  question: AccessQuestion,
  sealed: Pick<OnboardRequest, 'sealed' | 'sealedKey'>,
): Promise<PreparedOnboarding> {
  return prepareOnboarding(question, { ...question.prepared.request, ...sealed }, question.by)
}

/** Opens or updates the pull request that onboards a tenant. `end`: the end of its text; `note`: that of its commit. */
async function openOnboarding(
  { writer }: AccessQuestion,
  { request, plan, branch }: PreparedOnboarding,
  end: string,
  note = '',
): Promise<OpenedPullRequest> {
  const text = pullRequestText(plan)
  return openRecordedPull(writer, {
    base: branch,
    branch: onboardingBranch(request.tenant),
    files: plan.files.map(({ path, content }) => ({ path, content })),
    title: text.title,
    body: `${text.body}\n\n${end}`,
    message: note === '' ? text.title : `${text.title}\n\n${note}`,
  })
}

/** Who asks, for which address, and whose fleet it is. */
interface RepositoryQuestion {
  readonly installation: Installation
  readonly login: string
  readonly url: string
  readonly fleetUrl: string
}

/** How many sources that the App cannot see are compared with a repository; each is a request. */
const MOST_NAMES = 50

/**
 * Refuses a tenant for a repository that the person does not administer, under its present or an earlier name. A
 * repository that the App cannot read is not visible and is never applied. Throws `onboard-input`.
 */
export async function refuseForeignRepository(question: RepositoryQuestion): Promise<void> {
  const { installation, login, url } = question
  const found = await resolve(question, url)
  if (!found) return
  // its present name must not be shown to everyone
  const role = await readRole({ ...found, octokit: installation.octokit }, login)
  if (role !== 'admin') {
    throw new BailiwickError(
      'onboard-input',
      `${login} may not request a tenant for ${url}: the role there is ${role}`,
      {
        fix: 'Ask an admin of that repository to run this command.',
      },
    )
  }
  if (found.url === normaliseUrl(url)) return
  throw new BailiwickError('onboard-input', `${url} was renamed`, { fix: `Use its current name: ${found.url}` })
}

/**
 * Refuses a repository that is already the source of a tenant: `sources` are the addresses that the fleet follows,
 * possibly by an earlier name of the repository. Throws `onboard-input`.
 */
export async function refuseKnownRepository(question: RepositoryQuestion, sources: readonly string[]): Promise<void> {
  const wanted = await resolve(question, question.url)
  if (!wanted) return
  const known = new Set((await question.installation.repositories()).map(({ url }) => url))
  const other = [...new Set(sources.map(normaliseUrl))].filter(url => !known.has(url) && url !== wanted.url)
  if (other.length > MOST_NAMES) {
    const message = `the fleet follows ${other.length} repositories that the App cannot see: at most ${MOST_NAMES} can be compared with ${question.url}`
    throw new BailiwickError('onboard-input', message, { fix: 'Install the App on them, or remove their sources.' })
  }
  for (const url of other) {
    const found = await resolve(question, url)
    if (found?.id !== wanted.id) continue
    throw new BailiwickError('onboard-input', `${question.url} is already the source of a tenant, as ${url}`, {
      fix: 'A repository belongs to one tenant. Name another repository, or add a Kustomization to that tenant.',
    })
  }
}

/** The repository at an address of the fleet's GitHub, by any of its names; undefined if the App may not read it. */
async function resolve({ installation, fleetUrl }: RepositoryQuestion, url: string) {
  const name = nameAt(normaliseUrl(url), fleetUrl)
  return name && readRepository({ ...name, octokit: installation.octokit })
}

/**
 * Deletes the deploy key of an onboarding that was closed without a merge, unless another one, open or merged, goes on with
 * the same key. Doing it twice has no further effect.
 */
export async function withdrawAccess(context: WorkerContext, data: WithdrawAccess, attempt: Attempt): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const pull = await readOwnPull({ ...data, octokit: reader, app: await context.app.identity() }, data.pull)
  if (pull?.state !== 'closed') return
  const record = readDeployKeyMarker(pull.body, context.config.privateKey)
  const fleet = await openCase(context, data, attempt, reader)
  if (!record || record.fleet !== fleet?.repository.id) return
  const others = await listAllOwnPulls(fleet, pull.branch)
  for (const other of others) {
    if (other.branch !== pull.branch || other.state === 'closed') continue
    if ((await recordOf(fleet, other))?.key === record.key) return
  }
  await forgetDeployKey(fleet, record)
}

/** By its last commit, or by its text if someone added a commit. */
async function recordOf(fleet: Case, pull: OwnPull): Promise<DeployKeyRecord | undefined> {
  const { privateKey } = fleet.context.config
  const { message } = await readCommit(fleet, pull.head)
  return readDeployKeyMarker(message, privateKey) ?? readDeployKeyMarker(pull.body, privateKey)
}

/** Deletes a deploy key that Bailiwick added. If it no longer may, the log names the repository. */
async function forgetDeployKey(fleet: Case, { repository: id, tenant, key }: DeployKeyRecord): Promise<void> {
  const { context, installation } = fleet
  const repository = (await installation.repositories()).find(one => one.id === id)
  if (repository && (await context.app.mayAdminister(installation.id)))
    return administer(fleet, repository, writer => removeRecordedKey(writer, key))
  context.log.warn(
    { repository: id, tenant },
    'a deploy key was not deleted: the App may not administer the repository',
  )
}

/** Of these pull requests, the onboardings that were closed without a merge and whose deploy key still exists. */
export async function leftKeys(
  { context, installation, octokit, repository: fleet }: Case,
  pulls: readonly OwnPull[],
): Promise<readonly OwnPull[]> {
  const left: OwnPull[] = []
  const listed = new Map<number, readonly DeployKey[]>()
  for (const pull of pulls) {
    const record = pull.state === 'closed' ? readDeployKeyMarker(pull.body, context.config.privateKey) : undefined
    if (record?.fleet !== fleet.id || pull.branch !== onboardingBranch(record.tenant)) continue
    const repository = (await installation.repositories()).find(({ id }) => id === record.repository)
    if (!repository) continue
    const keys = listed.get(repository.id) ?? (await listDeployKeys({ ...repository, octokit }).catch(notVisible))
    listed.set(repository.id, keys)
    const owner = { tenant: record.tenant, fleet: `${fleet.owner}/${fleet.repo}` }
    if (keys.some(({ key, title }) => key === record.key && isTitleOf(title, owner))) left.push(pull)
  }
  return left
}

/** Keys that the App may not list it may not delete either. */
function notVisible(error: unknown): readonly DeployKey[] {
  if (error instanceof BailiwickError && (error.code === 'not-permitted' || error.code === 'git-missing')) return []
  throw error
}
