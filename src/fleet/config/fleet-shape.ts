import { normaliseUrl } from '../../kube/url.ts'
import { sourcePattern } from './allowed-sources.ts'
import { declaration } from './declaration.ts'
import {
  ADDRESS,
  ANY_NAME,
  APPROVER,
  ARTIFACT,
  BRANCH,
  CLUSTER,
  CLUSTER_NAME,
  COMMIT,
  CUSTOM_KIND,
  GROUP,
  KIND,
  NAME,
  NAMESPACE,
  REF,
  SENTENCE,
  SOURCE_ADDRESS,
  TENANT,
} from './names.ts'
import { dictionary, integer, list, needed, oneOf, optional, record, refused, type Shape, text } from './shape.ts'

const RULE = { pattern: /^[a-z][a-z0-9-]{1,60}$/, allowed: 'the id of a rule (docs/rules.md)' }
const rule = text(RULE.pattern, RULE.allowed)
const profile = oneOf('restricted', 'baseline')
const enforcement = oneOf('block', 'report')
const allowedSources = list(text(sourcePattern.pattern, sourcePattern.allowed), pattern => pattern)
/** A switch: YAML's own `true` and `false`, no other word for them. */
const flag: Shape<boolean> = {
  allowed: 'true or false',
  schema: { type: 'boolean' },
  read(node, key) {
    if (node.type !== 'scalar' || typeof node.value !== 'boolean') throw refused(node, key, 'true or false')
    return node.value
  },
}
const identity = (...parts: readonly (string | number | undefined)[]) => JSON.stringify(parts)
/** Each quantity of a unit at most once, as Go writes durations. */
const duration = text(
  /^(?=[0-9])(?:[0-9]{1,4}h)?(?:[0-9]{1,5}m)?(?:[0-9]{1,6}s)?$/,
  'a duration, as 30s, 5m or 1h30m, of at most a day',
  written => secondsOf(written) <= 86_400,
)

/** Seconds of a duration that was read. */
export function secondsOf(written: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(written) ?? []
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

const written = text(/^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$/, 'a day, as 2026-12-31', value =>
  new Date(`${value}T00:00:00Z`).toISOString().startsWith(value),
)

/** A day that the calendar has; days compare as texts. Without quotes YAML makes a time of it. */
const day: Shape<string> = {
  ...written,
  read(node, key) {
    const midnight = node.type === 'scalar' && !node.quoted ? /^(.{10})T00:00:00Z$/.exec(String(node.value)) : null
    return written.read(midnight?.[1] ? { type: 'scalar', value: midnight[1], origin: node.origin } : node, key)
  },
}

const gatedBranch = record('a branch that requires our check', {
  url: needed(ADDRESS, 'Address of the repository.'),
  branch: needed(BRANCH, 'Its branch.'),
})

const object = record('the object that breaks the rule', {
  kind: needed(KIND, 'Its kind, with the API group before it where that matters.'),
  namespace: optional(NAMESPACE, 'Its namespace; left out for an object that has none.'),
  name: needed(ANY_NAME, 'Its name.'),
})

const accepted = record('an accepted value', {
  fingerprint: needed(
    text(/^[0-9a-f]{32}$/, 'text of 32 hex digits'),
    'Its fingerprint, which `bailiwick check -o json` prints: another value in the same field is another violation.',
  ),
  severity: optional(
    oneOf('critical', 'high', 'medium', 'low'),
    'Its severity when it was accepted; a higher one is a new violation. Default: any.',
  ),
  field: optional(SENTENCE, 'Its field, for people.'),
})

const waiver = record('an accepted violation', {
  rule: needed(rule, 'The rule that may be broken.'),
  object: needed(object, 'The object that may break it.'),
  cluster: optional(CLUSTER, 'The cluster on which it may. Default: every cluster.'),
  violations: optional(
    list(accepted, one => one.fingerprint),
    'What it accepts, value by value. Without them it accepts nothing.',
  ),
  reason: needed(SENTENCE, 'Why it is accepted.'),
  requester: optional(SENTENCE, 'Who asked for it; somebody else must accept it.'),
  approver: optional(SENTENCE, 'Who accepted it. Without one it counts for nothing.'),
  expires: needed(day, 'The last day on which it holds.'),
})

const account = record('a service account', {
  name: needed(NAME, 'Its name.'),
  namespace: optional(NAMESPACE, 'Its namespace. Default: every namespace of a tenant.'),
  cluster: optional(CLUSTER, 'The cluster that has it. Default: every cluster.'),
})

const declaredKind = record('a custom kind', {
  group: needed(GROUP, 'Its API group.'),
  kind: needed(CUSTOM_KIND, 'Its name.'),
  scope: needed(oneOf('Namespaced', 'Cluster'), 'Where its objects live, as its CustomResourceDefinition says.'),
})

const repository = record('a repository', {
  url: needed(ADDRESS, 'Its address.'),
  id: needed(integer(1, Number.MAX_SAFE_INTEGER), 'Its number on GitHub, which outlives a rename.'),
})

const alias = record('a repository with several addresses', {
  url: needed(ADDRESS, 'The address by which this fleet calls the repository.'),
  addresses: needed(
    list(ADDRESS, address => normaliseUrl(address)),
    'Its other addresses: a mirror, another host, an alias of ssh.',
  ),
})

const ref = record('spec.ref of a source', {
  branch: optional(BRANCH, 'A branch. Default: master, as in Flux.'),
  tag: optional(REF, 'A tag.'),
  semver: optional(REF, 'A range of versions.'),
  name: optional(REF, 'The full name of a ref.'),
  commit: optional(COMMIT, 'A commit.'),
})

const source = record('a source that is not in git', {
  kind: needed(oneOf('GitRepository', 'OCIRepository', 'Bucket'), 'Its kind.'),
  namespace: needed(NAMESPACE, 'Its namespace.'),
  name: needed(NAME, 'Its name.'),
  url: needed(SOURCE_ADDRESS, 'What it follows, as its spec.url says.'),
  ref: optional(ref, 'What of it, as its spec.ref says.'),
  clusters: optional(
    list(CLUSTER, name => name),
    'The clusters that have it. Default: every cluster.',
  ),
})

/** A folder of the fleet's own repository. */
const folder = text(
  /^(?!.*(?:^|\/)\.\.(?:\/|$))[^\p{Cc}{}$]{1,500}$/u,
  'a folder of this repository, as ./kubernetes/flux/cluster',
)

const artifact = record('an OCI artifact', {
  url: needed(ARTIFACT, 'Its address with the tag that the sources follow.'),
  path: optional(folder, 'The folder of this repository that it holds as it is. Default: all of it.'),
})

const cluster = record('a cluster', {
  name: needed(text(CLUSTER_NAME, 'the name of a cluster: letters, digits, - . and _'), 'Its name in results.'),
  path: needed(folder, 'The folder that its Flux starts from: spec.path of its Kustomization.'),
  source: optional(
    record('the source that it follows', {
      url: needed(SOURCE_ADDRESS, 'Its address.'),
      ref: optional(ref, 'What of it.'),
    }),
    'What it follows, where that is not this repository at the branch that is evaluated.',
  ),
})

const tenant = record('a tenant', {
  name: needed(TENANT, 'Its name.'),
  namespaces: optional(
    list(NAMESPACE, name => name),
    'Namespaces besides those that the manifests give it.',
  ),
  platform: optional(
    flag,
    'true: it is the platform itself under a label of tenants, and no rule of tenancy applies to it. Default: false.',
  ),
  clusters: optional(
    list(CLUSTER, name => name),
    'The clusters on which it may be. Default: any.',
  ),
  allowedSources: optional(allowedSources, 'Addresses that it may deploy from. Default: what the fleet allows.'),
  enforcement: optional(enforcement, "Default: the fleet's."),
  profile: optional(profile, "Default: the fleet's."),
  repositories: optional(
    list(repository, ({ url }) => url),
    'Its repositories.',
  ),
})

/** Everything that a fleet's own file may say. */
export const fleetShape = record('what a fleet says about itself', {
  profile: optional(profile, 'restricted (default): also what a tenant should not need. baseline: those are warnings.'),
  enforcement: optional(enforcement, 'report: violations are reported as warnings without blocking. Default: block.'),
  allowedSources: optional(allowedSources, 'Addresses that tenants may deploy from. Default: any.'),
  opaqueSources: optional(
    oneOf('allow', 'forbid'),
    'Whether a tenant may follow what nobody can read. Default: allow.',
  ),
  undeclaredValues: optional(
    oneOf('allow', 'forbid'),
    'Whether a Kustomization of the platform may substitute from a ConfigMap or Secret that neither the fleet renders nor this file declares. allow (default): its values are unknown. forbid: an evaluation error.',
  ),
  gatedBranches: optional(
    list(gatedBranch, ({ url, branch }) => identity(url, branch)),
    'Branches that require our check although no source of the fleet follows them.',
  ),
  allowedKubeConfigs: optional(
    list(NAME, name => name),
    'Secrets with kubeconfigs that tenants may name.',
  ),
  minimumInterval: optional(duration, 'The shortest interval of a reconciliation. Default: 30s.'),
  severities: optional(
    dictionary(RULE, oneOf('critical', 'high', 'medium', 'low', 'warning', 'off')),
    'How much a rule counts: a violation of a severity, a warning, or nothing.',
  ),
  approvers: optional(
    list(APPROVER, who => who.replace(/^@/, '').toLowerCase()),
    'Who may accept waivers and override checks, besides who maintains or administers this repository.',
  ),
  forks: optional(
    oneOf('judge', 'approve'),
    'approve: a pull request from a fork also needs the approval of somebody who maintains its repository. Default: judge.',
  ),
  waivers: optional(
    list(waiver, one => identity(one.rule, one.cluster, one.object.kind, one.object.namespace, one.object.name)),
    'Violations that somebody accepted, until a day.',
  ),
  substituteFrom: optional(
    list(declaration, one => identity(one.cluster, one.kind, one.namespace, one.name)),
    'ConfigMaps and Secrets that only the cluster has.',
  ),
  accounts: optional(
    list(account, one => identity(one.cluster, one.namespace, one.name)),
    'Service accounts that a policy engine or an addon makes.',
  ),
  kinds: optional(
    list(declaredKind, one => identity(one.group, one.kind)),
    'Custom kinds whose CustomResourceDefinition the fleet does not render.',
  ),
  aliases: optional(
    list(alias, one => normaliseUrl(one.url)),
    'Repositories that sources name by another address.',
  ),
  sources: optional(
    list(source, one => identity(one.kind, one.namespace, one.name, ...(one.clusters ?? []))),
    'Sources that are applied by hand, so that only the cluster has them.',
  ),
  artifacts: optional(
    list(artifact, ({ url }) => url),
    'OCI artifacts that hold a folder of this repository as it is, of those that OCIRepositories of the platform follow.',
  ),
  clusters: optional(
    list(cluster, ({ name }) => name),
    'Clusters whose start is not found in this repository, or that are to have another name.',
  ),
  tenants: optional(
    list(tenant, ({ name }) => name),
    'What holds for single tenants.',
  ),
})

/** What the file in a tenant's own repository may say: only what is stricter than the fleet's. */
export const tenantShape = record('what a tenant asks of itself', {
  profile: optional(oneOf('restricted'), 'restricted, where the fleet has baseline.'),
  enforcement: optional(oneOf('block'), 'block, where the fleet only reports.'),
  allowedSources: optional(allowedSources, 'Addresses out of those that the fleet allows.'),
  severities: optional(
    dictionary(RULE, oneOf('critical', 'high', 'medium', 'low')),
    'Rules that count as violations of a severity, not less than before.',
  ),
})
