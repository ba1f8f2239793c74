import { BailiwickError } from '../../src/base/errors.ts'
import type { Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { readCommit } from '../../src/github/contents/commits.ts'
import { readRepository } from '../../src/github/contents/repositories.ts'
import { type ListedDeployKey, listDeployKeys } from '../../src/github/deploy-keys.ts'
import { listAllOwnPulls, type OpenedPullRequest, type OwnPull, readOwnPull } from '../../src/github/own-pulls.ts'
import { readRole } from '../../src/github/people.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import type { WithdrawAccess } from '../../src/receive/queue.ts'
import { deployKeyTitle, isTitleOf } from '../../src/tenants/credential-entries.ts'
import {
  accessText,
  type DeployKeyRecord,
  deployKeyMarker,
  readDeployKeyMarker,
  refuseOwnApp,
} from '../../src/tenants/onboard/credential.ts'
import { pullRequestText } from '../../src/tenants/onboard/pull-request-text.ts'
import type { OnboardRequest } from '../../src/tenants/onboard/request.ts'
import { githubInstallation, openRepository } from '../fleets/github-installation.ts'
import type { Installation, ReadableRepository, WorkerContext } from '../fleets/worker-context.ts'
import { type ActOf, addRecordedKey, openRecordedPull, removeRecordedKey } from '../gate/record-decision.ts'
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
 * Opens the pull request of an onboarding, with the credentials that its tenant needs. The sealed key is committed
 * before it is added to the repository: a crash leaves a pull request that the next attempt completes, never a key
 * whose private half is lost. `end`: the end of its text.
 */
export async function openWithAccess(question: AccessQuestion, end: string): Promise<OpenedPullRequest> {
  refuseOwnApp(question.prepared.request, question.context.config.appId)
  const key = await planTenantKey(question)
  if (!key) return openAccess(question, end, '')
  const prepared =
    key.sealed === undefined
      ? question.prepared
      : await prepareAgain(question, { sealedKey: key.sealed, ...configOf(key) })
  return openAccess({ ...question, prepared }, `${key.text}\n\n${end}`, key.marker)
}

/** `note`: for the commit. */
async function openAccess(question: AccessQuestion, end: string, note: string): Promise<OpenedPullRequest> {
  const { prepared, place } = question
  if (prepared.request.access === undefined) return openOnboarding(question, prepared, end, note)
  const planned = await planReadAccess(question)
  if (planned.state === 'by-hand') return openByHand(question, planned, end, note)
  const { sealed, file, repository, record, recipients, replaced } = planned
  const { context, installation, by } = question
  const complete = await prepareAgain(question, { sealed, ...configOf(planned) })
  const outcome = { state: 'sealed', file, repository: prepared.request.url, key: record.key, recipients } as const
  const access = accessText(prepared.request, outcome)
  const text = planned.note === undefined ? access : `${access}\n\n${planned.note}`
  const marker = deployKeyMarker(record, context.config.privateKey)
  const opened = await openOnboarding(
    question,
    complete,
    `${text}\n\n${end}\n\n${marker}`,
    note === '' ? marker : `${marker}\n${note}`,
  )
  if (replaced) await forgetDeployKey(actOf(question), installation, replaced)
  const owner = { tenant: record.tenant, fleet: `${place.owner}/${place.repo}` }
  const title = deployKeyTitle(owner, `requested by ${by}`)
  const added = await context.app.administer(installation.id, repository.id, octokit =>
    addRecordedKey(actOf(question), octokit, repository, { title, key: record.key }),
  )
  if (!added) {
    const why = `GitHub does not accept deploy keys for that repository. An organization owner can allow them in the settings of the organization under \`Deploy keys\`.`
    return openByHand(question, { state: 'by-hand', file, why }, end, note)
  }
  // a pull request that was closed meanwhile was closed before there was a key to delete
  const pull = await readOwnPull(place.octokit, place.app, place, opened.number)
  if (pull?.state === 'closed') await forgetDeployKey(actOf(question), installation, record)
  return opened
}

const actOf = ({ context, place, installation, fleet }: AccessQuestion) => ({
  ...{ context, app: place.app, fleet: { installation: installation.id, url: fleet.url } },
})

function openByHand(
  question: AccessQuestion,
  planned: Extract<PlannedAccess, { state: 'by-hand' }>,
  end: string,
  note: string,
): Promise<OpenedPullRequest> {
  const { prepared } = question
  return openOnboarding(question, prepared, `${accessText(prepared.request, planned)}\n\n${end}`, note)
}

const configOf = ({ sopsConfig }: { readonly sopsConfig?: OnboardRequest['sopsConfig'] | undefined }) =>
  sopsConfig ? { sopsConfig } : {}

/** The same onboarding with a sealed file among its files; it is rendered and compared again. */
async function prepareAgain(
  { context, installation, fleet, prepared, by }: AccessQuestion,
  sealed: Pick<OnboardRequest, 'sealed' | 'sealedKey' | 'sopsConfig'>,
): Promise<PreparedOnboarding> {
  return prepareOnboarding(context, installation, fleet, { ...prepared.request, ...sealed }, by)
}

/** Opens or updates the pull request that onboards a tenant. `end`: the end of its text; `note`: that of its commit. */
async function openOnboarding(
  { context, place, installation, fleet }: Pick<AccessQuestion, 'context' | 'place' | 'installation' | 'fleet'>,
  { request, plan, branch }: PreparedOnboarding,
  end: string,
  note = '',
): Promise<OpenedPullRequest> {
  const text = pullRequestText(plan)
  const act = { context, app: place.app, fleet: { installation: installation.id, url: fleet.url } }
  return openRecordedPull(act, place.octokit, place, {
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
  readonly octokit: Octokit
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
  const { octokit, login, url } = question
  const found = await resolve(question, url)
  if (!found) return
  // its present name must not be shown to everyone
  const role = await readRole(octokit, found, login)
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
async function resolve({ octokit, fleetUrl }: RepositoryQuestion, url: string) {
  const name = nameOf(normaliseUrl(url), new URL(fleetUrl).host)
  return name && readRepository(octokit, name)
}

function nameOf(url: string, host: string): RepositoryName | undefined {
  const [, owner, repo] = /^https:\/\/[^/]+\/([^/]+)\/([^/]+)$/.exec(url) ?? []
  return owner !== undefined && repo !== undefined && new URL(url).host === host ? { owner, repo } : undefined
}

/**
 * Deletes the deploy key of an onboarding that was closed without a merge, unless another one, open or merged, goes on with
 * the same key. Doing it twice has no further effect.
 */
export async function withdrawAccess(context: WorkerContext, data: WithdrawAccess): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const app = await context.app.identity()
  const pull = await readOwnPull(reader, app, data, data.pull)
  if (pull?.state !== 'closed') return
  const record = readDeployKeyMarker(pull.body, context.config.privateKey)
  const fleet = await openRepository(context, data, reader)
  if (!record || record.fleet !== fleet?.repository.id) return
  const others = await listAllOwnPulls(reader, app, data, pull.branch)
  for (const other of others) {
    if (other.branch !== pull.branch || other.state === 'closed') continue
    if ((await recordOf(context, reader, data, other))?.key === record.key) return
  }
  const act = { context, app, fleet: { installation: data.installation, url: fleet.repository.url } }
  await forgetDeployKey(act, githubInstallation(context, data.installation, reader), record)
}

/** By its last commit, or by its text if someone added a commit. */
async function recordOf(
  { config }: WorkerContext,
  reader: Octokit,
  { owner, repo }: WithdrawAccess,
  pull: OwnPull,
): Promise<DeployKeyRecord | undefined> {
  const { message } = await readCommit(reader, { owner, repo }, pull.head)
  return readDeployKeyMarker(message, config.privateKey) ?? readDeployKeyMarker(pull.body, config.privateKey)
}

/** Deletes a deploy key that Bailiwick added. If it no longer may, the log names the repository. */
async function forgetDeployKey(
  act: ActOf & { readonly context: WorkerContext },
  installation: Installation,
  { repository: id, tenant, key }: DeployKeyRecord,
): Promise<void> {
  const { app, log } = act.context
  const repository = (await installation.repositories()).find(one => one.id === id)
  if (!repository || !(await app.mayAdminister(installation.id))) {
    log.warn({ repository: id, tenant }, 'a deploy key was not deleted: the App may not administer the repository')
    return
  }
  const name = { owner: repository.owner, repo: repository.name }
  await app.administer(installation.id, id, octokit => removeRecordedKey(act, octokit, name, key))
}

/** A fleet whose onboardings are looked at. */
interface OnboardedFleet {
  readonly context: Pick<WorkerContext, 'config'>
  readonly installation: Installation
  readonly octokit: Octokit
  readonly fleet: ReadableRepository
}

/** Of these pull requests, the onboardings that were closed without a merge and whose deploy key still exists. */
export async function leftKeys(
  { context, installation, octokit, fleet }: OnboardedFleet,
  pulls: readonly OwnPull[],
): Promise<readonly OwnPull[]> {
  const left: OwnPull[] = []
  const listed = new Map<number, readonly ListedDeployKey[]>()
  for (const pull of pulls) {
    const record = pull.state === 'closed' ? readDeployKeyMarker(pull.body, context.config.privateKey) : undefined
    if (record?.fleet !== fleet.id || pull.branch !== onboardingBranch(record.tenant)) continue
    const repository = (await installation.repositories()).find(({ id }) => id === record.repository)
    if (!repository) continue
    const name = { owner: repository.owner, repo: repository.name }
    const keys = listed.get(repository.id) ?? (await listDeployKeys(octokit, name).catch(notVisible))
    listed.set(repository.id, keys)
    const owner = { tenant: record.tenant, fleet: `${fleet.owner}/${fleet.name}` }
    if (keys.some(({ key, title }) => key === record.key && isTitleOf(title, owner))) left.push(pull)
  }
  return left
}

/** Keys that the App may not list it may not delete either. */
function notVisible(error: unknown): readonly ListedDeployKey[] {
  if (error instanceof BailiwickError && (error.code === 'not-permitted' || error.code === 'git-missing')) return []
  throw error
}
