import { objectPart, quoted } from '../../facts/shown.ts'
import { followedBy, refPath, wordsOf } from '../../facts/source-ref.ts'
import type { Subject } from '../../facts/subject.ts'
import { isGatedBranch } from '../../fleet/config/gated-branch.ts'
import { GIT_REPOSITORY } from '../../flux/kinds.ts'
import { message } from '../../message/message.ts'
import type { Breach, Rule, RuleContext } from '../model/rule.ts'
import { feedsSomething } from './support/feeds-something.ts'

/** What a tenant deploys stands on a branch whose changes are evaluated. */
export const sourceUngatedRef: Rule = {
  id: 'source-ungated-ref',
  severity: 'critical',
  title: 'Source that follows an unprotected branch',
  why: 'Bailiwick evaluates a change where it is merged. Flux deploys pushes to a branch without the check, in the same or another repository, without an evaluation.',
  docs: 'Follow a branch that a platform source follows, a branch in `gatedBranches` of .github/bailiwick.yaml, or a commit (`spec.ref.commit`). Any other branch of a fleet repository is a violation. A branch of a repository outside the fleet is a violation as soon as an object deploys from it: pin the commit, or ask a fleet admin to declare the source. Charts, registries and buckets do not have branches (see `source-opaque`). For tags, see `source-mutable-ref`. A cluster that changes its branch is a required approval.',
  kinds: [GIT_REPOSITORY],
  *checkObject(subject, context) {
    const breach = evaluateFleet(subject, context)
    if (breach) yield breach
  },
}

function evaluateFleet({ object, id, node }: Subject, { index, config }: RuleContext): Breach | undefined {
  if (node.tenant === undefined) return undefined
  const { url, ref } = followedBy(object, config.aliases)
  if (url === '' || url.includes('${') || ref.commit || ref.tag || ref.semver) return undefined
  // A reference to a change that nobody merged is a rule of its own.
  if (ref.name !== undefined && /^(?:refs\/)?(?:pulls?|merge-requests|pull-requests|changes|for)\//i.test(ref.name)) {
    return undefined
  }
  const isRefused = index.isRefused(node.cluster, id.namespace, id.name)
  if (!isRefused && index.followerOf(url, ref) === 'platform') return undefined
  if (!isRefused && ref.branch !== undefined && isGatedBranch(config, url, ref.branch)) return undefined
  const isKnown = !isRefused && index.isKnownRepository(url)
  if (!isKnown && !feedsSomething(index, node.cluster, node.tenant, id)) return undefined
  const whose = isKnown ? 'no source of the platform follows it' : 'the repository is not part of the fleet'
  return {
    node,
    object,
    path: refPath(object),
    value: `${url} ${wordsOf(ref)}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} follows ${quoted('branch', wordsOf(ref))} of ${quoted('repository', url)}, whose changes are not evaluated: ${whose}. Allowed: a branch that a platform source follows or gatedBranches lists, or a commit. Flux accepts it.`,
    fix: message`Set spec.ref.branch to the tenant's deployment branch, set spec.ref.commit, or ask a fleet admin to declare the source.`,
  }
}
