import { objectPart, quoted } from '../../facts/shown.ts'
import { followedBy, refPath, wordsOf } from '../../facts/source-ref.ts'
import type { TenantSubject } from '../../facts/subject.ts'
import { isReported } from '../../fleet/config/is-reported.ts'
import { GIT_REPOSITORY } from '../../flux/kinds.ts'
import type { KubeObject } from '../../kube/object.ts'
import { message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { applierOf, isApprovedSource } from './support/approved-source.ts'
import { takersOf } from './support/feeds-something.ts'
import { isGatedSource } from './support/is-gated-source.ts'

/** What a tenant deploys stands on a branch whose changes are evaluated. */
export const sourceUngatedRef: Rule = {
  id: 'source-ungated-ref',
  severity: 'critical',
  title: 'Source that follows an unprotected branch',
  why: 'Bailiwick evaluates a change where it is merged. Flux deploys pushes to a branch without the check, in the same or another repository, without an evaluation.',
  docs: 'Follow a branch that requires the check and belongs to the tenant (a platform source of the tenant follows it, or `gatedBranches` of .github/bailiwick.yaml lists it), or pin a commit (`spec.ref.commit`). The setting `tenantSources` of .github/bailiwick.yaml decides about everything else. `gated` (default): it needs the approval of a fleet admin, once for tenant, address, ref and account (`approvedSources`, `/bailiwick approve-source`). The command line cannot ask GitHub: it warns about a source that it can read, and lists one that it cannot read as a required approval. `declared`: it is a violation. `any`: it is allowed. Tags and version ranges count as branches that do not require the check. Charts, registries and buckets have no branches (see `source-opaque`). A cluster that changes its branch is a required approval.',
  kinds: [GIT_REPOSITORY],
  *checkTenantObject(subject, context) {
    const violation = violationOf(subject, context)
    if (violation) yield violation
  },
}

function violationOf(subject: TenantSubject, { index, config }: RuleContext): Violation | undefined {
  const { object, id, node } = subject
  if (config.tenantSources === 'any') return undefined
  const { url, ref } = followedBy(object, config.aliases)
  if (url === '' || url.includes('${') || ref.commit) return undefined
  // A reference to a change that nobody merged is a rule of its own.
  if (ref.name !== undefined && /^(?:refs\/)?(?:pulls?|merge-requests|pull-requests|changes|for)\//i.test(ref.name)) {
    return undefined
  }
  if (isGatedSource(index, config, subject)) return undefined
  const isKnown = !index.isRefused(node.cluster, id.namespace, id.name) && index.isKnownRepository(url)
  const takers = takersOf(index, node.cluster, node.tenant, id)
  const isDeclared = config.tenantSources === 'declared'
  if (isDeclared ? !isKnown && takers.length === 0 : !isShown(subject, takers, { index, config })) return undefined
  const whose = isKnown ? 'no platform source of this tenant follows it' : 'the repository is not part of the fleet'
  const what = isDeclared ? 'whose changes are not evaluated' : 'which does not require the check as far as git shows'
  const remedy = isDeclared ? 'declare the source' : 'approve it (approvedSources in .github/bailiwick.yaml)'
  return {
    node,
    object,
    path: refPath(object),
    value: `${url} ${wordsOf(ref)}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} follows ${quoted('branch', wordsOf(ref))} of ${quoted('repository', url)}, ${what}: ${whose}. Allowed: a branch of the tenant that requires the check, or a commit. Flux accepts it.`,
    fix: message`Set spec.ref.branch to the tenant's deployment branch, set spec.ref.commit, or ask a fleet admin to ${remedy}.`,
    ...(isDeclared ? {} : { level: 'warning' }),
  }
}

/** Whether it is shown here; elsewhere it is asked for (approvals/tenant-sources.ts). */
function isShown(
  { object, node }: TenantSubject,
  takers: readonly KubeObject[],
  { index, config }: Pick<RuleContext, 'index' | 'config'>,
): boolean {
  const followed = followedBy(object, config.aliases)
  if (!isReported(config, node.tenant) && !index.isGiven(followed.url, followed.ref)) return false
  const lockdown = index.cluster(node.cluster)?.lockdown
  return takers.some(taker => {
    const use = { ...followed, tenant: node.tenant, account: applierOf(taker, lockdown) }
    return !isApprovedSource(config, use)
  })
}
