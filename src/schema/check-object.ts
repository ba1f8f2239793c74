import { probably } from '../base/name-list.ts'
import { type MapNode, type Path, withoutField } from '../kube/node.ts'
import { groupOf } from '../kube/object.ts'
import { isAccepted } from './accept-walk.ts'
import type { Problem } from './core/problem.ts'
import { longestName, nameForm, nameProblem } from './core/texts.ts'
import { TypeWalk } from './type-walk.ts'
import { isKnownIn, isServedGroup, kindEntry, kindsOf, NEWEST, OLDEST, servedVersions } from './types-table.ts'

/** What a version of Kubernetes refuses in an object. */
export interface SchemaAnswer {
  /** Limited to the number that is listed for one object. */
  readonly problems: readonly Problem[]
  /** The number of all. */
  readonly count: number
  /** Kinds that are not Kubernetes' own are not compared. */
  readonly isKnown: boolean
  /** Number of a custom kind's values for which a schema keyword could not be decided. */
  readonly undecided?: number
  /** CEL rules of the schema that could not be evaluated; the number listed per object is limited. */
  readonly notEvaluated?: readonly { readonly path: Path; readonly rule: string; readonly why: string }[]
}

/** For an object with no certain problem. */
const VALID: SchemaAnswer = { problems: [], count: 0, isKnown: true }

/** How an object is applied. */
interface CheckSettings {
  /** Minor number of Kubernetes; default the newest that is known. */
  readonly version?: number
  /** The cluster's own version if the table does not have it; `version` is then the closest one. */
  readonly runs?: number | undefined
  /** The cluster's version is not known, so `version` is the newest. */
  readonly isAssumed?: boolean
  /** The Kustomization decrypts: the block of SOPS is gone before the object is applied. */
  readonly isDecrypted?: boolean
}

/**
 * Compares an object of Kubernetes' own kinds with what the API server of a version decodes from a server-side apply:
 * undeclared fields, types, formats, required fields and duplicates of keyed lists (structured-merge-diff,
 * typed/validate.go; apimachinery, util/validation). Unknown values are not evaluated.
 */
export function checkObject(
  root: MapNode,
  { version = NEWEST, runs = version, isAssumed = false, isDecrypted = false }: CheckSettings = {},
): SchemaAnswer {
  const [apiVersion, kind] = [text(root, 'apiVersion'), text(root, 'kind')]
  const entry = kindEntry(apiVersion, kind)
  if (entry && isKnownIn(entry, version)) {
    const object = isDecrypted ? withoutSops(root) : root
    const type = entry.type.is === 'object' ? entry.type.type : undefined
    const isValid = type === undefined || isAccepted(object, type, version)
    const name = nameProblem(root, nameForm(apiVersion, kind, version), longestName(apiVersion, kind))
    const old = deprecated(apiVersion, kind, version, isAssumed)
    if (isValid && name === undefined && old === undefined) return VALID
    const walk = new TypeWalk(version)
    if (type !== undefined && !isValid) walk.object(object, type)
    walk.add(name)
    walk.add(old)
    return { problems: walk.problems, count: walk.count, isKnown: true }
  }
  const until = entry?.until ?? lastServed(apiVersion, kind)
  const since = entry && entry.since > version ? entry.since : undefined
  const group = groupOf(apiVersion).toLowerCase()
  // what a version outside of the table serves is not known, nor what a CustomResourceDefinition or an extension does
  const isOwn = isTypeName(apiVersion, kind) && isServedGroup(group) && OLDEST <= runs && runs <= NEWEST
  if (until === undefined ? !isOwn : until >= runs && (since === undefined || isAssumed))
    return { problems: [], count: 0, isKnown: false }
  const [names, path] = servedInstead(group, apiVersion, kind, version)
  const problem: Problem = {
    kind: 'unknown-kind',
    path: [path],
    allowed: names.join(', '),
    found: path === 'kind' ? 'a kind that is not served' : 'a version that is not served',
    names,
    ...(until === undefined || until >= runs ? {} : { until: `1.${until}` }),
    ...(since === undefined ? {} : { since: `1.${since}` }),
  }
  return { problems: [problem], count: 1, isKnown: true }
}

/** Whether an API version and a kind can be names at all: encrypted ones are not known. */
const isTypeName = (apiVersion: string, kind: string): boolean =>
  /^[a-z0-9./-]+$/i.test(apiVersion) && /^[a-z0-9]+$/i.test(kind)

/** What may stand instead of a version that is not served, or of a kind that its group does not have. */
function servedInstead(
  group: string,
  apiVersion: string,
  kind: string,
  version: number,
): readonly [names: readonly string[], field: 'apiVersion' | 'kind'] {
  const own = servedVersions(group === 'extensions' && Object.hasOwn(MOVED, kind) ? MOVED[kind]! : group, kind, version)
  const names = own.length > 0 ? own : servedVersions(undefined, kind, version).filter(name => !name.includes('alpha'))
  if (names.length > 0 || lastServed(apiVersion, kind) !== undefined) return [names, 'apiVersion']
  const meant = probably(kind, kindsOf(apiVersion, version))
  return [meant === undefined ? [] : [meant], 'kind']
}

/** The number of maintained minor versions (https://kubernetes.io/releases/). */
const MAINTAINED = 3

function deprecated(apiVersion: string, kind: string, version: number, isAssumed: boolean): Problem | undefined {
  const found = deprecationOf(apiVersion, kind, version)
  if (found === undefined) return undefined
  const isLasting = (name: string) => (deprecationOf(name, kind, version)?.removed ?? Infinity) > found.removed
  // if the version is assumed, a recommended API must exist in every maintained version
  const oldest = isAssumed ? version - MAINTAINED + 1 : version
  const names = servedVersions(groupOf(apiVersion), kind, oldest).filter(isLasting)
  if (isAssumed && names.length === 0) return undefined
  return {
    kind: 'deprecated-version',
    path: ['apiVersion'],
    allowed: names.join(', '),
    found: 'a deprecated version',
    names,
    since: `1.${found.since}`,
    until: `1.${found.removed - 1}`,
  }
}

/** Kinds of `extensions` went to other groups. */
const MOVED: Readonly<Record<string, string>> = {
  Ingress: 'networking.k8s.io',
  NetworkPolicy: 'networking.k8s.io',
  Deployment: 'apps',
  DaemonSet: 'apps',
  ReplicaSet: 'apps',
}

const text = (root: MapNode, field: string): string => {
  const node = root.fields.get(field)?.value
  return node?.type === 'scalar' && typeof node.value === 'string' ? node.value : ''
}

/** The object without the block of SOPS. */
export function withoutSops(root: MapNode): MapNode {
  const block = root.fields.get('sops')?.value
  return block?.type === 'map' && block.fields.has('mac') ? withoutField(root, 'sops') : root
}

/** The minor version that deprecated an API version that is still served, and the first one that does not serve it. */
interface Deprecation {
  readonly since: number
  readonly removed: number
}

/** API versions with the minor versions that deprecated and removed them (k8s.io/api, zz_generated.prerelease-lifecycle.go). */
const DEPRECATED: readonly (readonly [apiVersion: string, kinds: string, since: number, removed: number])[] = [
  ['flowcontrol.apiserver.k8s.io/v1beta3', 'FlowSchema PriorityLevelConfiguration', 29, 32],
  ['admissionregistration.k8s.io/v1alpha1', 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding', 29, 32],
  ['admissionregistration.k8s.io/v1beta1', 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding', 31, 34],
  ['admissionregistration.k8s.io/v1alpha1', 'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding', 35, 38],
  ['admissionregistration.k8s.io/v1beta1', 'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding', 37, 40],
  ['certificates.k8s.io/v1alpha1', 'ClusterTrustBundle', 34, 37],
  ['certificates.k8s.io/v1beta1', 'ClusterTrustBundle PodCertificateRequest', 37, 40],
  ['coordination.k8s.io/v1alpha2', 'LeaseCandidate', 35, 38],
  ['coordination.k8s.io/v1beta1', 'LeaseCandidate', 36, 39],
  ['networking.k8s.io/v1beta1', 'IPAddress ServiceCIDR', 34, 37],
  ['resource.k8s.io/v1alpha3', 'DeviceTaintRule', 36, 39],
  ['resource.k8s.io/v1beta1', 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice', 35, 38],
  ['resource.k8s.io/v1beta2', 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice', 36, 39],
  ['storage.k8s.io/v1alpha1', 'VolumeAttributesClass', 32, 35],
  ['storage.k8s.io/v1beta1', 'VolumeAttributesClass', 34, 37],
  ['storagemigration.k8s.io/v1beta1', 'StorageVersionMigration', 37, 40],
]

/** By API version and kind. */
const BY_VERSION: ReadonlyMap<string, ReadonlyMap<string, Deprecation>> = byVersion()

function byVersion(): Map<string, Map<string, Deprecation>> {
  const made = new Map<string, Map<string, Deprecation>>()
  for (const [apiVersion, kinds, since, removed] of DEPRECATED) {
    const known = made.get(apiVersion) ?? new Map<string, Deprecation>()
    for (const kind of kinds.split(' ')) known.set(kind, { since, removed })
    made.set(apiVersion, known)
  }
  return made
}

/** The deprecation of an API version in a minor version of Kubernetes that serves it; undefined if it is not deprecated. */
function deprecationOf(apiVersion: string, kind: string, version: number): Deprecation | undefined {
  const row = BY_VERSION.get(apiVersion)?.get(kind)
  return row && row.since <= version ? row : undefined
}

/**
 * API versions that Kubernetes stopped serving before the oldest version of the table, with the last minor version that
 * served them (https://kubernetes.io/docs/reference/using-api/deprecation-guide/).
 */
const REMOVED: readonly (readonly [apiVersion: string, kinds: string, last: number])[] = [
  ['extensions/v1beta1', 'Deployment DaemonSet ReplicaSet NetworkPolicy PodSecurityPolicy', 15],
  ['apps/v1beta1', 'Deployment StatefulSet', 15],
  ['apps/v1beta2', 'Deployment DaemonSet ReplicaSet StatefulSet', 15],
  ['extensions/v1beta1', 'Ingress', 21],
  ['networking.k8s.io/v1beta1', 'Ingress IngressClass', 21],
  ['admissionregistration.k8s.io/v1beta1', 'MutatingWebhookConfiguration ValidatingWebhookConfiguration', 21],
  ['apiextensions.k8s.io/v1beta1', 'CustomResourceDefinition', 21],
  ['apiregistration.k8s.io/v1beta1', 'APIService', 21],
  ['certificates.k8s.io/v1beta1', 'CertificateSigningRequest', 21],
  ['coordination.k8s.io/v1beta1', 'Lease', 21],
  ['rbac.authorization.k8s.io/v1beta1', 'ClusterRole ClusterRoleBinding Role RoleBinding', 21],
  ['rbac.authorization.k8s.io/v1alpha1', 'ClusterRole ClusterRoleBinding Role RoleBinding', 21],
  ['scheduling.k8s.io/v1beta1', 'PriorityClass', 21],
  ['storage.k8s.io/v1beta1', 'CSIDriver CSINode StorageClass VolumeAttachment', 21],
  ['batch/v1beta1', 'CronJob', 24],
  ['discovery.k8s.io/v1beta1', 'EndpointSlice', 24],
  ['events.k8s.io/v1beta1', 'Event', 24],
  ['autoscaling/v2beta1', 'HorizontalPodAutoscaler', 24],
  ['policy/v1beta1', 'PodDisruptionBudget PodSecurityPolicy', 24],
  ['node.k8s.io/v1beta1', 'RuntimeClass', 24],
  ['flowcontrol.apiserver.k8s.io/v1beta1', 'FlowSchema PriorityLevelConfiguration', 25],
  ['autoscaling/v2beta2', 'HorizontalPodAutoscaler', 25],
  ['storage.k8s.io/v1beta1', 'CSIStorageCapacity', 26],
  ['flowcontrol.apiserver.k8s.io/v1beta2', 'FlowSchema PriorityLevelConfiguration', 28],
]

/** The last minor version that served a kind which none in the table serves; undefined where nothing is known of it. */
export function lastServed(apiVersion: string, kind: string): number | undefined {
  return REMOVED.find(([version, kinds]) => version === apiVersion && kinds.split(' ').includes(kind))?.[2]
}
