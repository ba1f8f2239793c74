import { randomBytes } from 'node:crypto'
import { openSnapshot } from '../../src/git/snapshot.ts'
import { readCommit } from '../../src/github/contents/read-commit.ts'
import { readBranch } from '../../src/github/pulls/branch.ts'
import { keyText } from '../../src/onboard/credential/key-text.ts'
import { readTenantKeyMarker, sealedDigest, tenantKeyMarker } from '../../src/onboard/credential/tenant-key-record.ts'
import { keySecretOf, type OnboardRequest } from '../../src/onboard/request.ts'
import { KEY_FILE } from '../../src/onboard/tenant-manifests.ts'
import { keySecret } from '../../src/sops/key-secret.ts'
import { publicKeysIn } from '../../src/sops/public-keys-in.ts'
import { withTenantRule } from '../../src/sops/rules/with-tenant-rule.ts'
import { sealSecret } from '../../src/sops/seal-document.ts'
import { onboardingBranch } from './onboarding-branch.ts'
import type { AccessQuestion } from './plan-read-access.ts'

/** The key with which a cluster decrypts the files of a tenant. */
interface PlannedKey extends Pick<OnboardRequest, 'sopsConfig'> {
  /** The sealed file; undefined where people add it. */
  readonly sealed: string | undefined
  /** Record of it for the commit; '' without. */
  readonly marker: string
  /** For the pull request. */
  readonly text: string
}

/**
 * Makes and seals the decryption key of a tenant, and goes on with the one that an earlier attempt sealed. Undefined where the
 * request asks for none. Throws `sops-config` where its path has no creation rule that can be used.
 */
export async function planTenantKey(question: AccessQuestion): Promise<PlannedKey | undefined> {
  const { prepared, installation, fleet, context } = question
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
  const { rule, note, sopsConfig } = await withTenantRule(tree, { directory: directory!, file })
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
  const config = sopsConfig === undefined ? {} : { sopsConfig }
  const marker = tenantKeyMarker(record, context.config.privateKey)
  return { sealed, marker, text: note === undefined ? text : `${text}\n\n${note}`, ...config }
}

/** The key in our branch, if our record of it is there too: the branch alone proves nothing. */
async function earlierKey(
  { place, installation, fleet, prepared, context }: AccessQuestion,
  file: string,
  recipients: readonly string[],
): Promise<{ sealed: string; recipient: string } | undefined> {
  const { tenant } = prepared.request
  const head = await readBranch(place.octokit, place, onboardingBranch(tenant))
  if (!head) return undefined
  const { message } = await readCommit(place.octokit, place, head.commit)
  const record = readTenantKeyMarker(message, context.config.privateKey)
  if (record?.fleet !== fleet.id || record.tenant !== tenant) return undefined
  const tree = openSnapshot(await installation.content(fleet, head.commit, head.tree))
  const sealed = tree.entry(file)?.type === 'file' ? Buffer.from(tree.read(file)).toString('utf8') : ''
  const isOurs = sealedDigest(sealed) === record.digest
  return isOurs && recipients.every(one => sealed.includes(one)) ? { sealed, recipient: record.recipient } : undefined
}
