import { plainVariable, type Variable, type VariableSource } from '../../flux/substitute/variables.ts'
import { type Node, stringAt, type ValueHolder } from '../../kube/node.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { type Declaration, FLEET_FILE } from '../model/fleet-config.ts'
import { sourcePattern } from './declared-settings.ts'
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
  dictionary,
  GROUP,
  integer,
  type JsonSchema,
  KIND,
  list,
  NAME,
  NAMESPACE,
  needed,
  oneOf,
  optional,
  REF,
  record,
  refused,
  SENTENCE,
  type Shape,
  SOURCE_ADDRESS,
  TENANT,
  text,
  USER,
  wrong,
} from './shape.ts'

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
  'a duration of at most a day, such as 30s, 5m or 1h30m',
  written => secondsOf(written) <= 86_400,
)

/** Seconds of a duration that was read. */
export function secondsOf(written: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(written) ?? []
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

const written = text(/^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$/, 'a day, such as 2026-12-31', value =>
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

const gatedBranch = record('a branch that requires the Bailiwick check', {
  url: needed(ADDRESS, 'Address of the repository.'),
  branch: needed(BRANCH, 'Its branch.'),
})

const object = record('the object that breaks the rule', {
  kind: needed(KIND, 'Its kind, with the API group before it if the kind is ambiguous.'),
  namespace: optional(NAMESPACE, 'Its namespace; omit it for a cluster-scoped object.'),
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
  rule: needed(rule, 'The id of the rule.'),
  object: needed(object, 'The object with the violation.'),
  cluster: optional(CLUSTER, 'The cluster. Default: every cluster.'),
  violations: optional(
    list(accepted, one => one.fingerprint),
    'The accepted values. Without them the waiver accepts nothing.',
  ),
  reason: needed(SENTENCE, 'Why it is accepted.'),
  requester: optional(SENTENCE, 'The login of the person who requested it. Another person must accept it.'),
  approver: optional(SENTENCE, 'The login of the person who accepted it. Without one the waiver has no effect.'),
  expires: needed(day, 'The last day on which it counts.'),
})

const account = record('a service account', {
  name: needed(NAME, 'Its name.'),
  namespace: optional(NAMESPACE, 'Its namespace. Default: every namespace of a tenant.'),
  cluster: optional(CLUSTER, 'The cluster that has it. Default: every cluster.'),
})

const declaredKind = record('a custom kind', {
  group: needed(GROUP, 'Its API group.'),
  kind: needed(CUSTOM_KIND, 'Its name.'),
  scope: needed(oneOf('Namespaced', 'Cluster'), 'Its scope, as in its CustomResourceDefinition.'),
})

/** The versions that src/schema knows; a test compares. */
export const KUBERNETES_VERSIONS = ['1.31', '1.32', '1.33', '1.34', '1.35', '1.36', '1.37'] as const
const versions = oneOf(...KUBERNETES_VERSIONS)

/** Without quotes YAML makes a number of it. */
const version: Shape<string> = {
  ...versions,
  schema: { enum: KUBERNETES_VERSIONS.flatMap(one => [one, Number(one)]) },
  read(node, key) {
    const isNumber = node.type === 'scalar' && typeof node.value === 'number'
    return versions.read(isNumber ? { type: 'scalar', value: String(node.value), origin: node.origin } : node, key)
  },
}

const kubernetes = record('the Kubernetes of a cluster', {
  version: needed(version, 'Its minor version.'),
  cluster: optional(CLUSTER, 'The cluster. Default: every cluster without an entry of its own.'),
})

const repository = record('a repository', {
  url: needed(ADDRESS, 'Its address.'),
  id: needed(integer(1, Number.MAX_SAFE_INTEGER), 'Its id on GitHub, which does not change with a rename.'),
})

const alias = record('a repository with several addresses', {
  url: needed(ADDRESS, 'The main address of the repository in this fleet.'),
  addresses: needed(
    list(ADDRESS, address => normaliseUrl(address)),
    'Its other addresses: a mirror, another host, an alias of ssh.',
  ),
})

const ref = record('spec.ref of a source', {
  branch: optional(BRANCH, 'A branch. Default: master, as in Flux.'),
  tag: optional(REF, 'A tag.'),
  semver: optional(REF, 'A semver range.'),
  name: optional(REF, 'The full name of a ref.'),
  commit: optional(COMMIT, 'A commit.'),
})

const approvedSource = record("a tenant's own source", {
  tenant: needed(TENANT, 'The tenant that declares it.'),
  url: needed(ADDRESS, 'Its spec.url.'),
  ref: optional(ref, 'Its spec.ref.'),
  account: needed(USER, 'The account that applies its content.'),
})

const source = record('a source that is not in git', {
  kind: needed(oneOf('GitRepository', 'OCIRepository', 'Bucket'), 'Its kind.'),
  namespace: needed(NAMESPACE, 'Its namespace.'),
  name: needed(NAME, 'Its name.'),
  url: needed(SOURCE_ADDRESS, 'Its spec.url.'),
  ref: optional(ref, 'Its spec.ref.'),
  clusters: optional(
    list(CLUSTER, name => name),
    'The clusters that have it. Default: every cluster.',
  ),
})

/** A folder of the fleet's own repository. */
const folder = text(
  /^(?!.*(?:^|\/)\.\.(?:\/|$))[^\p{Cc}{}$]{1,500}$/u,
  'a folder of this repository, such as ./kubernetes/flux/cluster',
)

const artifact = record('an OCI artifact', {
  url: needed(ARTIFACT, 'Its address with the tag that the sources follow.'),
  path: optional(
    folder,
    'The folder that it contains unchanged, of this repository or of the one that signs it. Default: the whole repository.',
  ),
})

const cluster = record('a cluster', {
  name: needed(text(CLUSTER_NAME, 'the name of a cluster: letters, digits, - . and _'), 'Its name in results.'),
  path: needed(folder, 'The folder that its Flux starts from: spec.path of its Kustomization.'),
  source: optional(
    record('the source of the cluster', {
      url: needed(SOURCE_ADDRESS, 'Its address.'),
      ref: optional(ref, 'Its spec.ref.'),
    }),
    'Its source, if that is not this repository at the evaluated branch.',
  ),
})

const tenant = record('a tenant', {
  name: needed(TENANT, 'Its name.'),
  namespaces: optional(
    list(NAMESPACE, name => name),
    'Namespaces in addition to those from the manifests.',
  ),
  platform: optional(
    flag,
    'true: the tenant is part of the platform, and no tenancy rule applies to it. Default: false.',
  ),
  clusters: optional(
    list(CLUSTER, name => name),
    'The allowed clusters. Default: any.',
  ),
  allowedSources: optional(allowedSources, "The allowed source addresses. Default: the fleet's."),
  enforcement: optional(enforcement, "Default: the fleet's."),
  profile: optional(profile, "Default: the fleet's."),
  repositories: optional(
    list(repository, ({ url }) => url),
    'Its repositories.',
  ),
})

const VALUES = 'a map of variable names to quoted strings'

const values: Shape<ReadonlyMap<string, Variable>> = {
  allowed: VALUES,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  read(node, key) {
    if (node.type !== 'map') throw wrong(node.origin, `${key} is not a map`, VALUES)
    const variables = new Map<string, Variable>()
    for (const [name, { value }] of node.fields) {
      const text = stringAt(value, [])
      // the message does not quote the value: it may be a secret
      if (text === undefined) throw wrong(value.origin, `a value of ${key} is not a string`, VALUES)
      variables.set(name, plainVariable(text, value.origin))
    }
    return variables
  },
}

const OPAQUE = 'true, or a list of variable names'

const opaque: Shape<Opaque> = {
  allowed: OPAQUE,
  schema: { anyOf: [{ const: true }, { type: 'array', uniqueItems: true, items: { type: 'string', minLength: 1 } }] },
  read(node, key) {
    if (node.type === 'scalar' && node.value === true) return { rest: hidden(node), names: new Map() }
    if (node.type !== 'list') throw wrong(node.origin, `${key} is neither true nor a list`, OPAQUE)
    const names = new Map<string, Variable>()
    for (const item of node.items) {
      const name = stringAt(item, [])
      if (!name || names.has(name))
        throw wrong(item.origin, `a name under ${key} is not a string, or is listed twice`, OPAQUE)
      names.set(name, hidden(item))
    }
    return { names }
  },
}

const fields = record('the data of a ConfigMap or Secret', {
  kind: needed(oneOf('ConfigMap', 'Secret'), 'ConfigMap or Secret.'),
  namespace: needed(NAMESPACE, 'Its namespace.'),
  name: needed(NAME, 'Its name.'),
  cluster: optional(CLUSTER, 'The cluster that has it. Default: every cluster.'),
  values: optional(values, 'Its known data. No secrets.'),
  opaque: optional(opaque, 'Its other keys, with unknown values: a list of keys, or true for any key.'),
})

/** One entry of `substituteFrom`: a ConfigMap or Secret that only the cluster has. */
const declaration: Shape<Declaration> = {
  allowed: fields.allowed,
  schema: { ...fields.schema, anyOf: [{ required: ['values'] }, { required: ['opaque'] }] },
  read(node, key) {
    const { kind, namespace, name, cluster, values: known, opaque: rest, origin } = fields.read(node, key)
    if (!known && !rest) throw wrong(origin, `${key} has neither values nor opaque`, 'values, opaque, or both')
    const twice = [...(rest?.names ?? [])].find(([each]) => known?.has(each))
    if (twice) throw wrong(twice[1].origin, `a name under ${key}.opaque is also under values`, OPAQUE)
    const holder = { kind, namespace, name }
    const names = [...(rest?.names ?? [])].map(
      ([key, one]) => [key, held(one, { ...holder, key, declared: 'key' })] as const,
    )
    const source: VariableSource = {
      variables: new Map([...(known ?? []), ...names]),
      ...(rest?.rest ? { rest: held(rest.rest, { ...holder, key: '', declared: 'object' }) } : {}),
    }
    return { cluster, kind, namespace, name, source }
  },
}

/** Everything that a fleet's own file may say. */
export const fleetShape = record('the configuration of a fleet', {
  profile: optional(profile, 'restricted (default): forbids more. baseline: reports that part as warnings.'),
  enforcement: optional(enforcement, 'report: violations are reported as warnings without blocking. Default: block.'),
  allowedSources: optional(allowedSources, 'The source addresses that tenants may deploy from. Default: any.'),
  opaqueSources: optional(oneOf('allow', 'forbid'), 'Whether a source of a tenant may be not visible. Default: allow.'),
  unrenderedCharts: optional(
    oneOf('warn', 'approve'),
    'approve: a change of a chart, its version or its values needs the approval of a fleet admin, because charts are not rendered. So does a new version of a platform source that is not visible. Default: warn.',
  ),
  undeclaredValues: optional(
    oneOf('allow', 'forbid'),
    'Whether a Kustomization of the platform may substitute from a ConfigMap or Secret that neither the fleet renders nor this file declares. allow (default): its values are unknown. forbid: an evaluation error.',
  ),
  tenantSources: optional(
    oneOf('gated', 'declared', 'any'),
    'The GitRepositories that tenants may add. gated (default): a branch that requires the check, or a commit; any other needs the approval of a fleet admin. declared: only repositories that the platform declares for the tenant. any: no approval.',
  ),
  approvedSources: optional(
    list(approvedSource, one => identity(one.tenant, normaliseUrl(one.url), JSON.stringify(one.ref), one.account)),
    "Tenants' own sources that fleet admins approved; `/bailiwick approve-source` writes them.",
  ),
  gatedBranches: optional(
    list(gatedBranch, ({ url, branch }) => identity(url, branch)),
    'Branches that require the check although no source of the fleet follows them.',
  ),
  allowedKubeConfigs: optional(
    list(NAME, name => name),
    'Secrets with kubeconfigs that tenants may use.',
  ),
  minimumInterval: optional(duration, 'The shortest interval of a reconciliation. Default: 30s.'),
  severities: optional(
    dictionary(RULE, oneOf('critical', 'high', 'medium', 'low', 'warning', 'off')),
    'The level of each rule: a violation with a severity, a warning, or off.',
  ),
  approvers: optional(
    list(APPROVER, who => who.replace(/^@/, '').toLowerCase()),
    'Fleet admins in addition to the maintainers and admins of this repository: they can accept waivers and override checks.',
  ),
  forks: optional(
    oneOf('evaluate', 'approve'),
    'approve: a pull request from a fork also needs the approval of a maintainer of its repository. Default: evaluate.',
  ),
  unseenChanges: optional(
    oneOf('approve', 'list'),
    'approve: a changed file that something not visible may apply needs the approval of a fleet admin. list: it is only listed. Default: approve.',
  ),
  waivers: optional(
    list(waiver, one => identity(one.rule, one.cluster, one.object.kind, one.object.namespace, one.object.name)),
    'Accepted violations, each with an end date.',
  ),
  substituteFrom: optional(
    list(declaration, one => identity(one.cluster, one.kind, one.namespace, one.name)),
    'ConfigMaps and Secrets that only the cluster has.',
  ),
  accounts: optional(
    list(account, one => identity(one.cluster, one.namespace, one.name)),
    'Service accounts that a policy engine or an addon creates.',
  ),
  kinds: optional(
    list(declaredKind, one => identity(one.group, one.kind)),
    'Custom kinds whose CustomResourceDefinition the fleet does not render.',
  ),
  kubernetes: optional(
    list(kubernetes, one => identity(one.cluster)),
    'The Kubernetes version of the clusters: objects that its API server refuses are violations (rule schema-mismatch).',
  ),
  aliases: optional(
    list(alias, one => normaliseUrl(one.url)),
    'Repositories with other addresses in sources.',
  ),
  sources: optional(
    list(source, one => identity(one.kind, one.namespace, one.name, ...(one.clusters ?? []))),
    'Sources that are applied by hand, so that only the cluster has them.',
  ),
  artifacts: optional(
    list(artifact, ({ url }) => url),
    'OCI artifacts that contain an unchanged folder of this repository, or of the one whose workflow signs them.',
  ),
  clusters: optional(
    list(cluster, ({ name }) => name),
    'Clusters that Bailiwick does not find in this repository, or that need another name.',
  ),
  tenants: optional(
    list(tenant, ({ name }) => name),
    'Settings of individual tenants.',
  ),
})

/** What the file in a tenant's own repository may say: only what is stricter than the fleet's. */
export const tenantShape = record('the configuration of a tenant', {
  profile: optional(oneOf('restricted'), 'restricted, if the fleet has baseline.'),
  enforcement: optional(oneOf('block'), 'block, if the fleet only reports.'),
  allowedSources: optional(allowedSources, 'A subset of the addresses that the fleet allows.'),
  severities: optional(
    dictionary(RULE, oneOf('critical', 'high', 'medium', 'low')),
    "Severities of rules, not lower than the fleet's.",
  ),
})

interface Opaque {
  readonly rest?: Variable
  readonly names: ReadonlyMap<string, Variable>
}

const hidden = ({ origin }: Node): Variable => ({ value: '', origin, hidden: 'opaque' })

/** The same with where it lies. */
function held(variable: Variable, holder: ValueHolder): Variable {
  return variable.hidden === 'opaque' ? { ...variable, holders: [holder] } : variable
}

/** The JSON schema (draft-07) of the file, made of what reads it; docs/bailiwick.schema.json is this object. */
export function fleetSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: FLEET_FILE,
    description: 'Configuration of a fleet; see docs/fleet-file.md.',
    ...fleetShape.schema,
    definitions: {
      tenant: { description: "The same file in a tenant's own repository.", ...tenantShape.schema },
    },
  }
}
