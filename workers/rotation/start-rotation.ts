import { hash } from 'node:crypto'
import { commandError } from '../../src/command/command-error.ts'
import {
  type RotationRecord,
  readRotationMarker,
  rotationMarker,
  sealedDigest,
} from '../../src/credentials/rotation-record.ts'
import { rotationText } from '../../src/credentials/rotation-text.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import { readCommit } from '../../src/github/contents/read-commit.ts'
import { readRole } from '../../src/github/people/permission.ts'
import { readBranch } from '../../src/github/pulls/branch.ts'
import { readOwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { creationRuleFor } from '../../src/sops/rules/creation-rule.ts'
import type { SealingRule } from '../../src/sops/rules/sealing-rule.ts'
import { makeCredential } from '../onboarding/make-credential.ts'
import { openRecordedPull } from '../trail/recorded-writes.ts'
import { addNewKey, keysOfTenant, removeKeys } from './change-keys.ts'
import type { TenantKey } from './read-tenant-key.ts'
import { ROTATION_BRANCH, type RotationPull } from './rotation-pulls.ts'
import type { RotationQuestion } from './rotation-question.ts'

/**
 * Begins a rotation, or goes on with one that was interrupted: the new key is sealed and committed to a branch, added to the
 * repository, and only then a pull request is opened, so that whoever merges it merges a key that is active. `open`: the
 * rotation of this tenant that is open already. Throws `command-input` with the steps by hand.
 */
export async function startRotation(
  question: RotationQuestion,
  present: TenantKey,
  open: RotationPull | undefined,
): Promise<void> {
  const { context, installation, place, fleet, tenant, by } = question
  const { file, repository, clusters, byHand } = present
  const rule = await creationRuleFor(present.tree, file)
  const branch = rotationBranch(question, present, rule)
  if (open && open.pull.branch !== branch) {
    const what = `#${open.pull.number} rotates this key already, from an earlier state of the fleet`
    throw commandError(what, 'Merge it, or close it and run the command again.')
  }
  const replaces = await assertMayRotate(question, present)
  const { record, sealed } =
    (await earlierAttempt(question, branch, file)) ?? (await newAttempt(question, present, rule, replaces))
  const marker = rotationMarker(record, context.config.privateKey)
  const recipients = rule.recipients.map(({ text }) => text)
  const text = rotationText({
    tenant,
    file,
    repository: repository.url,
    clusters,
    recipients,
    by,
    replaced: record.replaces.length,
  })
  const opened = await openRecordedPull(
    { context, app: place.app, fleet: { installation: installation.id, url: fleet.url } },
    place.octokit,
    place,
    {
      base: fleet.defaultBranch,
      branch,
      files: [{ path: file, content: sealed }],
      title: text.title,
      body: `${text.body}\n\n${marker}`,
      message: `${text.title}\n\n${marker}`,
      beforeOpen: async () => {
        if (await addNewKey(question, repository, record, `rotated by ${by}`)) return
        throw commandError('GitHub does not accept deploy keys for that repository', byHand)
      },
    },
  )
  // whoever closed it meanwhile may have done so before there was a key to delete
  const pull = await readOwnPull(place.octokit, place.app, place, opened.number)
  if (pull?.state === 'closed') await removeKeys(question, repository, [record.key])
}

/** One name for one state of the file and its recipients: who asks twice gets one rotation. */
function rotationBranch({ tenant }: RotationQuestion, { content }: TenantKey, rule: SealingRule): string {
  const state = JSON.stringify([content, rule.recipients.map(({ text }) => text)])
  return `${ROTATION_BRANCH}${tenant}-${hash('sha256', state).slice(0, 10)}`
}

/**
 * The keys that would be replaced. A repository has agreed to be read by a tenant where it has a key of that tenant, or where
 * one of its admins asks: what the fleet declares as a source proves nothing.
 */
async function assertMayRotate(question: RotationQuestion, present: TenantKey): Promise<readonly string[]> {
  const { context, installation, reader, tenant, by } = question
  const { repository, byHand } = present
  if (!(await context.app.mayAdminister(installation.id))) {
    throw commandError('the App does not have the permission `Administration: write`', byHand)
  }
  const keys = await keysOfTenant(question, repository, tenant)
  if (keys.length === 0 && (await readRole(reader, repository, by)) !== 'admin') {
    const what = `${repository.url} has no deploy key of tenant ${tenant}, and ${by} does not administer it`
    throw commandError(what, `Ask an admin of that repository who is also a fleet admin, or rotate by hand: ${byHand}`)
  }
  return keys.map(({ key }) => key)
}

interface Attempt {
  readonly record: RotationRecord
  readonly sealed: string
}

/** What an earlier attempt left on our branch. Its record is ours; the branch alone proves nothing. */
async function earlierAttempt(
  { context, place, installation, fleet, tenant }: RotationQuestion,
  branch: string,
  file: string,
): Promise<Attempt | undefined> {
  const head = await readBranch(place.octokit, place, branch)
  if (!head) return undefined
  const { message } = await readCommit(place.octokit, place, head.commit)
  const record = readRotationMarker(message, context.config.privateKey)
  if (record?.fleet !== fleet.id || record.tenant !== tenant || record.file !== file) return undefined
  const tree = openSnapshot(await installation.content(fleet, head.commit, head.tree))
  if (tree.entry(file)?.type !== 'file') return undefined
  const sealed = Buffer.from(tree.read(file)).toString('utf8')
  return sealedDigest(sealed) === record.sealed ? { record, sealed } : undefined
}

async function newAttempt(
  { reader, fleet, tenant }: RotationQuestion,
  { tree, file, frame, address, repository, clusters }: TenantKey,
  rule: SealingRule,
  replaces: readonly string[],
): Promise<Attempt> {
  const { sealed, publicKey: key } = await makeCredential(reader, tree, { frame, address }, rule)
  const place = { fleet: fleet.id, repository: repository.id, tenant, file, clusters }
  return { record: { ...place, sealed: sealedDigest(sealed), key, replaces }, sealed }
}
