import { openSnapshot } from '../../src/git/snapshot.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { readCommit } from '../../src/github/contents/read-commit.ts'
import { type NamedRepository, readRepository } from '../../src/github/contents/read-repository.ts'
import { readRole } from '../../src/github/people/permission.ts'
import { readBranch } from '../../src/github/pulls/branch.ts'
import { findPullRequest } from '../../src/github/pulls/find-pull-request.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import { type DeployKeyRecord, readDeployKeyMarker } from '../../src/onboard/credential/deploy-key-record.ts'
import { type OnboardRequest, secretOf, sourceAddress } from '../../src/onboard/request.ts'
import { AUTH_FILE } from '../../src/onboard/tenant-manifests.ts'
import { creationRuleFor } from '../../src/sops/rules/creation-rule.ts'
import { withTenantRule } from '../../src/sops/rules/with-tenant-rule.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'
import { makeCredential } from './make-credential.ts'
import { onboardingBranch } from './onboarding-branch.ts'
import type { PreparedOnboarding } from './prepare-onboarding.ts'

/** An onboarding whose tenant needs credentials. */
export interface AccessQuestion {
  readonly context: WorkerContext
  readonly place: PublishTarget
  readonly reader: Octokit
  readonly installation: Installation
  readonly fleet: ReadableRepository
  readonly prepared: PreparedOnboarding
  /** Who asks. */
  readonly by: string
}

/** A sealed key that may be added to a repository once its pull request is open, or why there is none. */
export type PlannedAccess =
  | {
      readonly state: 'sealed'
      readonly sealed: string
      readonly file: string
      readonly repository: NamedRepository
      readonly record: DeployKeyRecord
      readonly recipients: readonly string[]
      /** The key of an earlier attempt that this one replaces. */
      readonly replaced: DeployKeyRecord | undefined
      /** The `.sops.yaml` with a creation rule for this tenant. */
      readonly sopsConfig?: OnboardRequest['sopsConfig']
      /** Markdown: why the tenant has no rule of its own. */
      readonly note?: string
    }
  | { readonly state: 'by-hand'; readonly file: string; readonly why: string | undefined }

/**
 * Seals a new deploy key for the source of a tenant, without adding it to anything. An earlier attempt whose pull request is
 * open goes on with the key that it sealed, so that a crash leaves neither a second key nor one without a file.
 * Throws `sops-config` where its path has no creation rule that can be used.
 */
export async function planReadAccess(question: AccessQuestion): Promise<PlannedAccess> {
  const { prepared, context, fleet, reader, installation, by } = question
  const { request, plan, branch } = prepared
  const [directory, ...others] = plan.directories
  const file = `${directory}/${AUTH_FILE}`
  const byHand = (why?: string): PlannedAccess => ({ state: 'by-hand', file, why })
  if (request.access !== 'deploy-key') return byHand()
  if (others.length > 0) return byHand('clusters keep this tenant in several directories, and one key is for one file.')
  const commit = await installation.head(fleet, { branch })
  const tree = openSnapshot(await installation.content(fleet, commit!))
  await creationRuleFor(tree, file)
  const repository = await repositoryOf(question)
  if (!repository) return byHand('the App is not installed on that repository.')
  if ((await readRole(reader, repository, by)) !== 'admin')
    return byHand('the author does not administer that repository.')
  if (!(await context.app.mayAdminister(installation.id))) return byHand(NO_PERMISSION)
  const place = { directory: directory!, file }
  const { rule, ...more } = await withTenantRule(tree, place, request.sopsConfig)
  const recipients = rule.recipients.map(({ text }) => text)
  const earlier = await earlierAttempt(question, file)
  const record = { fleet: fleet.id, repository: repository.id, tenant: request.tenant }
  const common = { state: 'sealed', file, repository, recipients, ...more } as const
  const metadata = { name: secretOf(request)!, namespace: request.namespaces[0]! }
  const wanted = { frame: { metadata }, address: sourceAddress(request) }
  const isUsable = earlier?.record.repository === repository.id && isSealedFor(earlier.sealed, recipients)
  const { sealed, publicKey: key } = isUsable
    ? { sealed: earlier.sealed, publicKey: earlier.record.key }
    : await makeCredential(reader, tree, wanted, rule)
  return { ...common, sealed, record: { ...record, key }, replaced: await replacedKey(question, key) }
}

const NO_PERMISSION =
  'the App does not have the permission `Administration: write`. An organization owner can grant it on the settings page of the App, and run the command again.'

/** The repository on the fleet's own GitHub; undefined where the App cannot read it. */
async function repositoryOf({ reader, fleet, prepared }: AccessQuestion): Promise<NamedRepository | undefined> {
  const url = normaliseUrl(prepared.request.url)
  const [, host, owner, repo] = /^https:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(url) ?? []
  if (host !== new URL(fleet.url).host || owner === undefined || repo === undefined) return undefined
  const found = await readRepository(reader, { owner, repo })
  return found?.url === url ? found : undefined
}

/** What an earlier attempt left on our branch, with its pull request or without. Its record is ours; the branch alone proves nothing. */
async function earlierAttempt(question: AccessQuestion, file: string) {
  const { place, installation, fleet, prepared } = question
  const head = await readBranch(place.octokit, place, onboardingBranch(prepared.request.tenant))
  if (!head) return undefined
  const { message } = await readCommit(place.octokit, place, head.commit)
  const record = ownRecord(question, message)
  if (!record) return undefined
  const tree = openSnapshot(await installation.content(fleet, head.commit, head.tree))
  return { record, sealed: tree.entry(file)?.type === 'file' ? Buffer.from(tree.read(file)).toString('utf8') : '' }
}

/** The key that our open pull request speaks of, where that is another one. */
async function replacedKey(question: AccessQuestion, key: string): Promise<DeployKeyRecord | undefined> {
  const { place, prepared } = question
  const open = await findPullRequest(place.octokit, place.app, place, onboardingBranch(prepared.request.tenant))
  const record = open && ownRecord(question, open.body)
  return record?.key === key ? undefined : record
}

function ownRecord({ context, fleet, prepared }: AccessQuestion, text: string): DeployKeyRecord | undefined {
  const record = readDeployKeyMarker(text, context.config.privateKey)
  return record?.fleet === fleet.id && record.tenant === prepared.request.tenant ? record : undefined
}

/** A file that was sealed for others is made anew. */
const isSealedFor = (sealed: string, recipients: readonly string[]) =>
  sealed !== '' && recipients.every(recipient => sealed.includes(recipient))
