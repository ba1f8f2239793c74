import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import { creationRuleFor, publicKeysIn, type SealingRule } from '../../src/flux/sops/creation-rule.ts'
import { keySecret, sealSecret } from '../../src/flux/sops/seal-document.ts'
import { openSnapshot, type Tree } from '../../src/git/tree.ts'
import { readBranch } from '../../src/github/branches.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { readCommit } from '../../src/github/contents/commits.ts'
import { type NamedRepository, readRepository } from '../../src/github/contents/repositories.ts'
import { readHostKeys } from '../../src/github/deploy-keys.ts'
import { findPullRequest } from '../../src/github/own-pulls.ts'
import { readRole } from '../../src/github/people.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import {
  authSecret,
  type DeployKeyRecord,
  keyText,
  readDeployKeyMarker,
  readTenantKeyMarker,
  type SecretFrame,
  sealedDigest,
  tenantKeyMarker,
} from '../../src/tenants/onboard/credential.ts'
import type { OnboardPlan } from '../../src/tenants/onboard/plan.ts'
import { keySecretOf, type OnboardRequest, secretOf, sourceAddress } from '../../src/tenants/onboard/request.ts'
import { AUTH_FILE, KEY_FILE } from '../../src/tenants/onboard/tenant-files.ts'
import { askThread } from '../fleets/evaluate-revision-set.ts'
import { findRepository, mayReadSource, nameAt } from '../fleets/source-reader.ts'
import type { Case, WritableCase } from '../fleets/worker-context.ts'

/** The planned changes of an onboarding. */
export interface PreparedOnboarding {
  readonly request: OnboardRequest
  readonly plan: OnboardPlan
  /** The branch of the fleet that it goes to. */
  readonly branch: string
}

/** Plans an onboarding on the present fleet, requested by `by`. Throws `onboard-input` and `onboard-layout`. */
export async function prepareOnboarding(fleet: Case, asked: OnboardRequest, by: string): Promise<PreparedOnboarding> {
  const directories = await tenantDirectories(fleet, asked, by)
  const request = directories ? { ...asked, tenantDirectories: directories } : asked
  const { plan } = await askThread(fleet, { type: 'plan', request }, 'onboard-layout')
  if (plan.files.length === 0) {
    throw new BailiwickError(
      'onboard-input',
      `tenant ${asked.tenant} already exists in this fleet, exactly as requested`,
    )
  }
  return { request: plan.request, plan, branch: fleet.repository.defaultBranch }
}

/** The root directories of the tenant's repository; undefined if it cannot be read, or not by the requester. */
async function tenantDirectories(
  { installation, repository: fleet }: Case,
  { url, branch, ref }: OnboardRequest,
  by: string,
): Promise<string[] | undefined> {
  // a tag or a commit may differ from what the branch holds now
  if (ref) return undefined
  // checked before anything reveals whether there is such a repository
  if (!(await mayReadSource(installation, fleet.url, url, by))) return undefined
  const repository = await findRepository(installation, { url: normaliseUrl(url) })
  const commit = repository && (await installation.head(repository, { branch }))
  if (!repository || !commit) return undefined
  const { entries } = await installation.content(repository, commit)
  return [...new Set(entries.flatMap(({ path }) => (path.includes('/') ? [path.slice(0, path.indexOf('/'))] : [])))]
}

/** An onboarding whose tenant needs credentials. */
export interface AccessQuestion extends WritableCase {
  readonly prepared: PreparedOnboarding
  /** Login of the requester. */
  readonly by: string
  /** ISO time of the request. */
  readonly at: string
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
    }
  | { readonly state: 'by-hand'; readonly file: string; readonly why: string | undefined }

/**
 * Seals a new deploy key for the source of a tenant, without adding it to anything. If the pull request of an earlier
 * attempt is open, its sealed key is reused, so that a crash leaves neither a second key nor one without a file. Throws
 * `sops-config` if its path has no creation rule that can be used.
 */
export async function planReadAccess(question: AccessQuestion): Promise<PlannedAccess> {
  const { prepared, context, repository: fleet, octokit, installation, by } = question
  const { request, plan, branch } = prepared
  const [directory, ...others] = plan.directories
  const file = `${directory}/${AUTH_FILE}`
  const byHand = (why?: string): PlannedAccess => ({ state: 'by-hand', file, why })
  if (request.access !== 'deploy-key') return byHand()
  if (others.length > 0) return byHand('clusters keep this tenant in several directories, and one key is for one file.')
  const commit = await installation.head(fleet, { branch })
  const tree = openSnapshot(await installation.content(fleet, commit!))
  const rule = await creationRuleFor(tree, file)
  const repository = await repositoryOf(question)
  if (!repository) return byHand('the App is not installed on that repository.')
  if ((await readRole({ ...repository, octokit }, by)) !== 'admin')
    return byHand('the author does not administer that repository.')
  if (!(await context.app.mayAdminister(installation.id))) return byHand(NO_PERMISSION)
  const recipients = rule.recipients.map(({ text }) => text)
  const earlier = await earlierAttempt(question, file)
  const record = { fleet: fleet.id, repository: repository.id, tenant: request.tenant }
  const common = { state: 'sealed', file, repository, recipients } as const
  const metadata = { name: secretOf(request)!, namespace: request.namespaces[0]! }
  const wanted = { frame: { metadata }, address: sourceAddress(request) }
  const isUsable = earlier?.record.repository === repository.id && isSealedFor(earlier.sealed, recipients)
  const { sealed, publicKey: key } = isUsable
    ? { sealed: earlier.sealed, publicKey: earlier.record.key }
    : await makeCredential(octokit, tree, wanted, rule)
  return { ...common, sealed, record: { ...record, key }, replaced: await replacedKey(question, key) }
}

const NO_PERMISSION =
  'the App does not have the permission `Administration: write`. An organization owner can grant it on the settings page of the App, and run the command again.'

/** The repository on the fleet's own GitHub; undefined where the App cannot read it. */
async function repositoryOf({
  octokit,
  repository: fleet,
  prepared,
}: AccessQuestion): Promise<NamedRepository | undefined> {
  const url = normaliseUrl(prepared.request.url)
  const name = nameAt(url, fleet.url)
  const found = name && (await readRepository({ ...name, octokit }))
  return found?.url === url ? found : undefined
}

/** The message of our branch's last commit, and a file there: the branch alone proves nothing, a record of ours in it does. */
async function onOurBranch({ writer, installation, repository, prepared }: AccessQuestion, file: string) {
  const head = await readBranch(writer, onboardingBranch(prepared.request.tenant))
  if (!head) return undefined
  const { message } = await readCommit(writer, head.commit)
  const tree = openSnapshot(await installation.content(repository, head.commit, head.tree))
  return { message, sealed: tree.entry(file)?.type === 'file' ? Buffer.from(tree.read(file)).toString('utf8') : '' }
}

/** What an earlier attempt left there. */
async function earlierAttempt(question: AccessQuestion, file: string) {
  const found = await onOurBranch(question, file)
  const record = found && ownRecord(question, found.message)
  return record && { record, sealed: found.sealed }
}

/** The key that our open pull request names, if that is another one. */
async function replacedKey(question: AccessQuestion, key: string): Promise<DeployKeyRecord | undefined> {
  const { writer, prepared } = question
  const open = await findPullRequest(writer, onboardingBranch(prepared.request.tenant))
  const record = open && ownRecord(question, open.body)
  return record?.key === key ? undefined : record
}

function ownRecord(
  { context, repository: fleet, prepared }: AccessQuestion,
  text: string,
): DeployKeyRecord | undefined {
  const record = readDeployKeyMarker(text, context.config.privateKey)
  return record?.fleet === fleet.id && record.tenant === prepared.request.tenant ? record : undefined
}

/** A file that was sealed for others is sealed again. */
const isSealedFor = (sealed: string, recipients: readonly string[]) =>
  sealed !== '' && recipients.every(recipient => sealed.includes(recipient))

/** The key with which a cluster decrypts the files of a tenant. */
interface PlannedKey {
  /** The sealed file; undefined if people add it. */
  readonly sealed: string | undefined
  /** Record of it for the commit; '' without. */
  readonly marker: string
  /** For the pull request. */
  readonly text: string
}

/**
 * Creates and seals the decryption key of a tenant, or reuses the one that an earlier attempt sealed. Undefined if the
 * request asks for none. Throws `sops-config` if its path has no creation rule that can be used.
 */
export async function planTenantKey(question: AccessQuestion): Promise<PlannedKey | undefined> {
  const { prepared, installation, repository: fleet, context } = question
  const { request, plan, branch } = prepared
  const secret = keySecretOf(request)
  if (secret === undefined) return undefined
  const [directory, ...others] = plan.directories
  const file = `${directory}/${KEY_FILE}`
  if (others.length > 0) {
    const why = 'clusters keep this tenant in several directories, and one key is for one file.'
    return { sealed: undefined, marker: '', text: keyText(request, { state: 'by-hand', file, why }) }
  }
  const commit = await installation.head(fleet, { branch })
  const tree = openSnapshot(await installation.content(fleet, commit!))
  const rule = await creationRuleFor(tree, file)
  const recipients = rule.recipients.map(({ text }) => text)
  let key = await earlierKey(question, file, recipients)
  if (!key) {
    const made = await keySecret({ secret, namespace: request.namespaces[0]! })
    const publicKeys = rule.recipients.some(({ kind }) => kind === 'pgp') ? publicKeysIn(tree) : []
    const sealed = await sealSecret(made.secret, rule, { now: new Date(), random: randomBytes, publicKeys })
    key = { sealed, recipient: made.recipient }
  }
  const { sealed, recipient } = key
  const record = { fleet: fleet.id, tenant: request.tenant, recipient, digest: sealedDigest(sealed) }
  const text = keyText(request, { state: 'sealed', file, recipient, recipients })
  const marker = tenantKeyMarker(record, context.config.privateKey)
  return { sealed, marker, text }
}

/** The key in our branch, if our record of it is there too: the branch alone proves nothing. */
async function earlierKey(
  question: AccessQuestion,
  file: string,
  recipients: readonly string[],
): Promise<{ sealed: string; recipient: string } | undefined> {
  const found = await onOurBranch(question, file)
  const record = found && readTenantKeyMarker(found.message, question.context.config.privateKey)
  if (record?.fleet !== question.repository.id || record.tenant !== question.prepared.request.tenant) return undefined
  const { sealed } = found!
  const isOurs = sealedDigest(sealed) === record.digest
  return isOurs && recipients.every(one => sealed.includes(one)) ? { sealed, recipient: record.recipient } : undefined
}

/** A Secret with a new private key, sealed, and the public half of the key. */
interface SealedCredential {
  readonly sealed: string
  readonly publicKey: string
}

/** A Secret to create: its part in clear, and the address that the cluster reads with it. */
interface WantedCredential {
  readonly frame: SecretFrame
  readonly address: string
}

/**
 * Creates a key pair and seals its private half by a creation rule. The private half is in this process only for that
 * time, and then erased. Throws `sops-config`.
 */
async function makeCredential(
  octokit: Octokit,
  fleet: Tree,
  { frame, address }: WantedCredential,
  rule: SealingRule,
): Promise<SealedCredential> {
  const { host } = new URL(address)
  const knownHosts = (await readHostKeys(octokit)).map(key => `${host} ${key}`)
  if (knownHosts.length === 0) {
    throw new BailiwickError('onboard-layout', `${host} does not publish its SSH keys, so they cannot be pinned`, {
      fix: 'Use --access token, or add the Secret by hand.',
    })
  }
  const { privateKey, publicKey } = newKeyPair()
  try {
    const secret = authSecret(frame, { privateKey, publicKey, knownHosts })
    const publicKeys = rule.recipients.some(({ kind }) => kind === 'pgp') ? publicKeysIn(fleet) : []
    return { sealed: await sealSecret(secret, rule, { now: new Date(), random: randomBytes, publicKeys }), publicKey }
  } finally {
    privateKey.fill(0)
  }
}

/** An SSH key pair in memory. */
interface KeyPair {
  /** PEM of PKCS #8, as the flux CLI writes it; the caller erases it. */
  readonly privateKey: Uint8Array
  /** `ssh-ed25519 ...`, without a comment. */
  readonly publicKey: string
}

/** Length of an Ed25519 public key. */
const PUBLIC_BYTES = 32
const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')

/** Makes a key pair. The private half is never a string, because strings cannot be erased. */
function newKeyPair(): KeyPair {
  const made = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  try {
    const publicBytes = made.publicKey.subarray(-PUBLIC_BYTES)
    const blob = Buffer.concat([sized(Buffer.from('ssh-ed25519')), sized(publicBytes)])
    return { privateKey: pemOf(made.privateKey), publicKey: `ssh-ed25519 ${blob.toString('base64')}` }
  } finally {
    made.privateKey.fill(0)
  }
}

function sized(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(bytes.length)
  return Buffer.concat([size, bytes])
}

/** 48 bytes: one line of base64 without padding. */
function pemOf(der: Buffer): Buffer {
  const [head, tail] = [Buffer.from('-----BEGIN PRIVATE KEY-----\n'), Buffer.from('\n-----END PRIVATE KEY-----\n')]
  const pem = Buffer.alloc(head.length + (der.length / 3) * 4 + tail.length)
  head.copy(pem)
  let at = head.length
  for (let index = 0; index < der.length; index += 3) {
    const group = der.readUIntBE(index, 3)
    for (const shift of [18, 12, 6, 0]) pem[at++] = ALPHABET[(group >> shift) & 63]!
  }
  tail.copy(pem, at)
  return pem
}

/** The branch of the pull request that onboards a tenant. */
export const onboardingBranch = (tenant: string): string => `bailiwick/onboard-${tenant}`
