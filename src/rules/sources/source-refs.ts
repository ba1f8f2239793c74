import { capital, codeWord, type MessagePart, message } from '../../base/message.ts'
import { isGatedBranch, isReported, memberSettings } from '../../fleet/config/declared-settings.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf, type Naming } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import {
  followedBy,
  includedBy,
  refPath,
  sourceText,
  TAKING_FIELDS,
  takenBy,
  wordsOf,
} from '../../fleet/facts/sources.ts'
import type { Lockdown } from '../../fleet/model/fleet.ts'
import { addressIn, type FleetConfig } from '../../fleet/model/fleet-config.ts'
import { accountOf, applierKinds } from '../../fleet/model/kustomization-spec.ts'
import { refKey } from '../../fleet/model/source-ref.ts'
import { GIT_REPOSITORY, HELM_RELEASE, IMAGE_UPDATE_AUTOMATION, OCI_REPOSITORY } from '../../kube/flux-kinds.ts'
import type { Path } from '../../kube/node.ts'
import { idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import { userOfAccount } from '../../kube/rbac/policy-rule.ts'
import type { SourceUse } from '../model/finding.ts'
import { type Rule, type RuleContext, Subject, type TenantSubject, type Violation } from '../model/rule.ts'

const NAME = ['spec', 'ref', 'name']
const TAG = ['spec', 'ref', 'tag']
const SEMVER = ['spec', 'ref', 'semver']
/** A pinned reference does not move. */
const PINS = [
  ['spec', 'ref', 'commit'],
  ['spec', 'ref', 'digest'],
]

/** Deployed content changes only by an evaluated change. */
export const sourceMutableRef: Rule = {
  id: 'source-mutable-ref',
  severity: 'medium',
  level: 'warning',
  title: 'Source that follows a tag or version range',
  why: 'A tag can be moved, and a version range matches every newer tag. Everyone who can push a tag can deploy without a pull request.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Reference"',
  docs: 'Follow a branch, or pin `spec.ref.commit` (for an OCIRepository `spec.ref.digest`). A version range (`spec.ref.semver`) is a violation on clusters with `prod` or `production` in their name. There, every newer tag is deployed automatically. For a chart that only HelmReleases use, it stays a warning. A platform Kustomization that starts to follow a ref other than a branch needs an approval.',
  kinds: [GIT_REPOSITORY, OCI_REPOSITORY],
  *checkTenantObject(subject, { index }) {
    const { id, kind, node } = subject
    if (PINS.some(path => subject.text(path))) return
    const name = subject.text(NAME)
    const paths: Path[] = kind === GIT_REPOSITORY ? (name ? [] : [SEMVER, TAG]) : [SEMVER]
    if (kind === GIT_REPOSITORY && name?.startsWith('refs/tags/')) paths.push(NAME)
    const path = paths.find(one => subject.text(one))
    if (!path) return
    const value = subject.text(path) ?? ''
    const isRange = path === SEMVER && !/^\s*=?\s*v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?\s*$/.test(value)
    yield subject.violation(path, value, {
      message: message`${subject.who} follows ${isRange ? 'every newer tag in' : 'the tag'} ${quoted('value', value)}: its content can change without an evaluation. Allowed: a branch, a commit or a digest. Flux accepts it.`,
      fix: kind === GIT_REPOSITORY ? message`Set spec.ref.branch or spec.ref.commit.` : message`Set spec.ref.digest.`,
      ...(isRange && isProduction(node.cluster) && !isChart(index, node.cluster, kind, id)
        ? { level: 'violation' }
        : {}),
    })
  },
}

/** A range of versions is how releases follow a chart; of manifests it deploys whatever is tagged next. */
const isChart = (index: FleetIndex, cluster: string, kind: string, id: ObjectId) =>
  kind !== GIT_REPOSITORY && feedsReleasesOnly(index, cluster, id)

const isProduction = (cluster: string) => /(?:^|[-_.])(?:prod|prd|production)\d*(?:[-_.]|$)/i.test(cluster)

/** A tenant deploys from a branch whose changes are evaluated. */
export const sourceUngatedRef: Rule = {
  id: 'source-ungated-ref',
  severity: 'critical',
  title: 'Source that follows an unprotected branch',
  why: 'Bailiwick evaluates a change where it is merged. Flux deploys pushes to a branch without the check, in the same or another repository, without an evaluation.',
  docs: 'Follow a branch that requires the check and belongs to the tenant (a platform source of the tenant follows it, or `gatedBranches` of .github/bailiwick.yaml lists it), or pin a commit (`spec.ref.commit`). The setting `tenantSources` of .github/bailiwick.yaml decides about everything else. `gated` (default): it needs the approval of a fleet admin, once for tenant, address, ref and account (`approvedSources`, `/bailiwick approve-source`). The command line cannot ask GitHub: it warns about a source that it can read, and lists one that it cannot read as a required approval. `declared`: it is a violation. `any`: it is allowed. Tags and version ranges count as branches that do not require the check. Charts, registries and buckets have no branches (see `source-opaque`). A cluster that changes its branch is a required approval.',
  kinds: [GIT_REPOSITORY],
  checkTenantObject: ungated,
}

function* ungated(subject: TenantSubject, { index, config }: RuleContext): Iterable<Violation> {
  const { object, id, node } = subject
  if (config.tenantSources === 'any') return
  const { url, ref } = followedBy(object, config.aliases)
  if (url === '' || url.includes('${') || ref.commit) return
  // source-pull-ref reports a reference to an unmerged change
  if (/^(?:refs\/)?(?:pulls?|merge-requests|pull-requests|changes|for)\//i.test(ref.name ?? '')) return
  if (isGatedSource(index, config, subject)) return
  const isKnown = !index.isRefused(node.cluster, id.namespace, id.name) && index.isKnownRepository(url)
  const takers = takersOf(index, node.cluster, node.tenant, id)
  const isDeclared = config.tenantSources === 'declared'
  if (isDeclared ? !isKnown && takers.length === 0 : !isShown(subject, takers, { index, config })) return
  const whose = isKnown ? 'no platform source of this tenant follows it' : 'the repository is not part of the fleet'
  const what = isDeclared ? 'whose changes are not evaluated' : 'which does not require the check as far as git shows'
  const remedy = isDeclared ? 'declare the source' : 'approve it (approvedSources in .github/bailiwick.yaml)'
  yield subject.violation(refPath(object), `${url} ${wordsOf(ref)}`, {
    message: message`${subject.who} follows ${quoted('branch', wordsOf(ref))} of ${quoted('repository', url)}, ${what}. ${capital(whose)}. Allowed: a branch of the tenant that requires the check, or a commit. Flux accepts it.`,
    fix: message`Set spec.ref.branch to the tenant's deployment branch, set spec.ref.commit, or ask a fleet admin to ${remedy}.`,
    ...(isDeclared ? {} : { level: 'warning' }),
  })
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

/** Heads of unmerged changes: GitHub, Gitea, GitLab, Bitbucket, Azure DevOps, Gerrit. */
const UNMERGED = /^(?:refs\/)?(?:pull|pulls|merge-requests|pull-requests|pipelines|changes|for)\//i

/** A source never follows a pull request. */
export const sourcePullRef: Rule = {
  id: 'source-pull-ref',
  severity: 'critical',
  title: 'Source that follows a pull request',
  why: "Anyone who can open a pull request, including from a fork, can push to its head without a review. A source that follows it deploys unmerged content, and with the platform's rights if the source belongs to the platform.",
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Name"',
  docs: 'Set `spec.ref.branch` to a branch, or `spec.ref.commit` to a commit.',
  kinds: [GIT_REPOSITORY],
  *checkObject(subject) {
    const name = subject.text(NAME)
    if (name === undefined || !UNMERGED.test(name.trim())) return
    yield subject.violation(NAME, name, { ...textsOf(subject.who, name) })
  },
  *checkNode(node, { index }) {
    const { id, ref } = node.source
    const [, namespace = '', source = ''] = id.split('/')
    if (ref.name === undefined || !UNMERGED.test(ref.name.trim())) return
    // what only a FluxInstance or the fleet's file declares is not rendered
    if (index.versionsOf(node.hub ?? node.cluster, GIT_REPOSITORY, namespace, source).length > 0) return
    yield Subject.ofNode(node, index.node(node.parent)).violation(['spec', 'sourceRef'], ref.name, {
      ...textsOf(objectPart('Kustomization', node.namespace, node.name), ref.name),
    })
  },
}

function textsOf(what: MessagePart, name: string) {
  return {
    message: message`${what} follows ${quoted('branch', name)}, the head of an unmerged pull request. Allowed: a branch or a commit. Flux accepts it.`,
    fix: message`Set spec.ref.branch to the branch that pull requests are merged into.`,
  }
}

const FIELDS = ['branch', 'tag', 'name', 'semver']
const REFS: Readonly<Record<string, readonly Path[]>> = {
  [GIT_REPOSITORY]: [['spec', 'ref']],
  [IMAGE_UPDATE_AUTOMATION]: [
    ['spec', 'git', 'checkout', 'ref'],
    ['spec', 'git', 'push'],
  ],
}
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i

/** A source's reference has one meaning. */
export const gitRefAmbiguous: Rule = {
  id: 'git-ref-ambiguous',
  severity: 'high',
  title: 'Ambiguous Git ref',
  why: 'Programs resolve a branch that is named like a commit, or a tag named `refs/heads/main`, to different commits. The reviewed commit is then not the deployed one. A shell script can run a ref name with shell characters as a command.',
  source: 'gitrevisions(7)',
  docs: 'Set `spec.ref.branch` or `spec.ref.tag` to a short name, and `spec.ref.commit` to a commit. Any other ref is named in full in `spec.ref.name`.',
  kinds: [GIT_REPOSITORY, IMAGE_UPDATE_AUTOMATION],
  *checkObject(subject) {
    for (const ref of REFS[subject.kind] ?? []) {
      for (const field of FIELDS) {
        const path = [...ref, field]
        const text = subject.text(path)
        // other rules report a variable that is left
        const problem = text && !text.includes('${') ? problemOf(field, text) : undefined
        if (problem === undefined) continue
        yield subject.violation(path, text!, {
          message: message`${quoted('field', path.join('.'))} of ${subject.who} is ${quoted('value', text!)}, which ${problem}. Allowed: the short name of a branch or tag, or a commit in ${codeWord('spec.ref.commit')}.`,
          fix: message`Set ${codeWord('spec.ref.branch')} or ${codeWord('spec.ref.tag')} to the short name, or ${codeWord('spec.ref.commit')} to the commit.`,
        })
      }
    }
  },
}

function problemOf(field: string, text: string) {
  if (COMMIT.test(text)) return 'is named like a commit'
  if (/^-/.test(text)) return 'begins with a dash, so programs read it as an option'
  if (field === 'semver') return undefined
  if (/[\0-\x20\x7f`$;&|<>"'\\()*?[~^:]|\.\.|@\{/.test(text)) return 'contains characters that git or shells interpret'
  if (field === 'name') {
    return text.startsWith('refs/') || text === 'HEAD' ? undefined : 'is not a full ref name, which begins with refs/'
  }
  if (/^refs\//.test(text)) return 'is a full ref name where a short name is expected'
  return /^(?:HEAD|FETCH_HEAD|ORIG_HEAD|MERGE_HEAD|@)$/.test(text) ? 'is a symbolic ref of git' : undefined
}

const TAKEN: Naming = { id: 'takes from', of: ({ object }) => takenBy(object) }
const INCLUDED: Naming = { id: 'includes', of: ({ object }) => includedBy(object) }

/** The objects of the source's namespace, and of the tenant's, that deploy from it or take it into another source. */
function takersOf(index: FleetIndex, cluster: string, tenant: string, source: ObjectId): readonly KubeObject[] {
  const text = sourceText(source)
  const includers = index.found(cluster, GIT_REPOSITORY, source.namespace, INCLUDED, source.name)
  const takers = [...TAKING_FIELDS.keys()].flatMap(kind => index.foundAnywhere(cluster, kind, TAKEN, text))
  const theirs = takers.filter(({ object }) => {
    const { namespace } = idOf(object)
    return namespace === source.namespace || index.owns(cluster, tenant, namespace)
  })
  return [...includers, ...theirs].map(({ object }) => object)
}

/** Whether a source holds a chart and nothing else: releases take it, and nothing that deploys its content as it is. */
function feedsReleasesOnly(index: FleetIndex, cluster: string, source: ObjectId): boolean {
  const text = sourceText(source)
  const taking = [...TAKING_FIELDS.keys()].filter(kind => index.foundAnywhere(cluster, kind, TAKEN, text).length > 0)
  return taking.length > 0 && taking.every(kind => kind === HELM_RELEASE)
}

/**
 * Whether a push to what a tenant's GitRepository follows is evaluated for that tenant before it is merged: the branch requires
 * our check, and a change there is evaluated as the tenant's. The check of another tenant's repository says nothing about it.
 */
export function isGatedSource(
  index: FleetIndex,
  config: FleetConfig,
  { object, id, node }: Pick<TenantSubject, 'object' | 'id' | 'node'>,
): boolean {
  const { url, ref } = followedBy(object, config.aliases)
  if (config.tenantSources === 'gated' && index.isGatedByRules(node.cluster, id.namespace, id.name)) return true
  if (ref.branch === undefined || index.isRefused(node.cluster, id.namespace, id.name)) return false
  const isTheirs =
    index.usersOf(url).includes(node.tenant) ||
    memberSettings(config, node.tenant).every(one => one?.repositories.has(url)) ||
    index.rootOf(node.cluster)?.source.url === url
  return isTheirs && (index.followerOf(url, ref) === 'platform' || isGatedBranch(config, url, ref.branch))
}

/** Whether the fleet's file lists exactly this. */
export function isApprovedSource({ approvedSources, aliases }: FleetConfig, use: SourceUse): boolean {
  return approvedSources.some(
    one =>
      one.tenant === use.tenant &&
      addressIn(aliases, one.url) === use.url &&
      refKey(one.ref) === refKey(use.ref) &&
      one.account === use.account,
  )
}

/** The user that applies what an object takes from a source; a kind that applies nothing hands it on. */
export function applierOf(taker: KubeObject, lockdown: Lockdown | undefined): string {
  const { kind, namespace } = idOf(taker)
  const account = applierKinds.includes(kindOf(taker)) ? accountOf(taker, lockdown) : undefined
  return account === undefined ? `the controller of ${kind}` : userOfAccount(namespace, account)
}
