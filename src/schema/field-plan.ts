import type { Node } from '../kube/node.ts'
import { checksOf, type FieldCheck } from './core/checks-of.ts'
import type { TypeCheck } from './core/problem.ts'
import { type FieldType, isKnownIn, type KnownSince, objectType, type Scalar } from './types-table.ts'

/** What a version of Kubernetes allows in one type of object: the tables, read once. */
export interface ObjectPlan {
  readonly name: string
  /** Those that the version knows. */
  readonly fields: ReadonlyMap<string, FieldPlan>
  /** Also those of other versions. */
  readonly all: ReadonlyMap<string, KnownSince>
  /** Fields that must be there, and not be null. */
  readonly required: readonly string[]
  /** Fields that must not be empty. */
  readonly filled: readonly string[]
  readonly checks: readonly TypeCheck[]
}

/** What a version allows in one field, item or value. All have one shape, because the walk asks for every value. */
export interface FieldPlan {
  readonly is: FieldType['is']
  readonly scalar: Scalar
  /** The allowed words of a field, or of the items of its list. */
  readonly words: readonly string[] | undefined
  /** As in `FieldType`. */
  readonly keys: readonly string[] | '='
  /** Of a list's items, or of a map's values. */
  readonly below: FieldPlan | undefined
  /** Undefined for JSON of any shape. */
  object(): ObjectPlan | undefined
  readonly check: FieldCheck | undefined
  /** Values of this JavaScript type have no problem. */
  readonly plain: 'string' | 'boolean' | undefined
}

const plans = new Map<number, Map<string, ObjectPlan | undefined>>()

/** The plan of an object type by its name in the table, and of a minor version; undefined for JSON of any shape. */
export function objectPlan(name: string, version: number): ObjectPlan | undefined {
  const ofVersion = plans.get(version) ?? new Map<string, ObjectPlan | undefined>()
  plans.set(version, ofVersion)
  const known = ofVersion.get(name)
  if (known !== undefined || ofVersion.has(name)) return known
  const made = planOf(name, version)
  ofVersion.set(name, made)
  return made
}

function planOf(name: string, version: number): ObjectPlan | undefined {
  const type = objectType(name)
  if (type === undefined) return undefined
  const checks = checksOf(name)
  const fields = new Map<string, FieldPlan>()
  for (const [key, field] of type.fields)
    if (isKnownIn(field, version))
      fields.set(key, fieldPlan(field.type, version, type.words.get(key), checks?.fields.get(key)))
  return {
    name,
    fields,
    all: type.fields,
    required: type.required.filter(key => isEnforced(name, key)),
    filled: filledFields(name),
    checks: checks?.type ?? [],
  }
}

function fieldPlan(
  type: FieldType,
  version: number,
  words: readonly string[] | undefined,
  check: FieldCheck | undefined,
): FieldPlan {
  const below = type.is === 'list' ? type.items : type.is === 'map' ? type.values : undefined
  const isFree = words === undefined && check === undefined && type.is === 'scalar'
  let object: { readonly plan: ObjectPlan | undefined } | undefined
  return {
    is: type.is,
    scalar: type.is === 'scalar' ? type.scalar : 'any',
    words,
    keys: type.is === 'list' ? type.keys : [],
    below: below && fieldPlan(below, version, type.is === 'list' ? words : undefined, undefined),
    object() {
      // types contain themselves, so a plan is created when first needed
      object ??= { plan: type.is === 'object' ? objectPlan(type.type, version) : undefined }
      return object.plan
    },
    check,
    plain: isFree && (type.scalar === 'string' || type.scalar === 'boolean') ? type.scalar : undefined,
  }
}

/**
 * What the API server requires of objects beyond OpenAPI (Validate* functions of k8s.io/kubernetes,
 * pkg/apis/.../validation). A test compares each entry with a real API server.
 */
const NOT_EMPTY: Readonly<Record<string, readonly string[]>> = {
  'core.v1.Pod': ['spec'],
  'core.v1.PodTemplateSpec': ['spec'],
  'core.v1.Service': ['spec'],
  'core.v1.PodSpec': ['containers'],
  'core.v1.Container': ['name', 'image'],
  'core.v1.Volume': ['name'],
  'core.v1.VolumeMount': ['name', 'mountPath'],
  'core.v1.EnvVar': ['name'],
  'core.v1.ContainerPort': ['containerPort'],
  'core.v1.ConfigMapKeySelector': ['name', 'key'],
  'core.v1.SecretKeySelector': ['name', 'key'],
  'core.v1.ConfigMapEnvSource': ['name'],
  'core.v1.SecretEnvSource': ['name'],
  'core.v1.ConfigMapVolumeSource': ['name'],
  'core.v1.SecretVolumeSource': ['secretName'],
  'core.v1.HostPathVolumeSource': ['path'],
  'core.v1.NFSVolumeSource': ['server', 'path'],
  'core.v1.PersistentVolumeClaimVolumeSource': ['claimName'],
  'core.v1.KeyToPath': ['key', 'path'],
  'core.v1.PersistentVolumeClaimSpec': ['accessModes'],
  'core.v1.PersistentVolumeSpec': ['accessModes', 'capacity'],
  'core.v1.TopologySpreadConstraint': ['topologyKey'],
  'core.v1.PodAffinityTerm': ['topologyKey'],
  'networking.v1.IngressServiceBackend': ['name', 'port'],
  'networking.v1.HTTPIngressPath': ['pathType'],
  'autoscaling.v2.CrossVersionObjectReference': ['kind', 'name'],
  'storage.v1.StorageClass': ['provisioner'],
  'rbac.v1.PolicyRule': ['verbs'],
  'apps.v1.Deployment': ['spec'],
  'apps.v1.StatefulSet': ['spec'],
  'apps.v1.DaemonSet': ['spec'],
  'batch.v1.Job': ['spec'],
  'batch.v1.CronJob': ['spec'],
  'batch.v1.CronJobSpec': ['schedule'],
  'core.v1.PersistentVolumeClaim': ['spec'],
  'core.v1.PersistentVolume': ['spec'],
  'core.v1.ExecAction': ['command'],
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec': ['group'],
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames': ['plural', 'kind'],
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion': ['strategy'],
  'core.v1.ReplicationController': ['spec'],
  'core.v1.ReplicationControllerSpec': ['template'],
  'meta.v1.OwnerReference': ['apiVersion', 'kind', 'name', 'uid'],
  'networking.v1.HTTPIngressRuleValue': ['paths'],
  'networking.v1.IngressClassSpec': ['controller'],
  'admissionregistration.v1.RuleWithOperations': ['apiGroups', 'apiVersions', 'operations', 'resources'],
  'admissionregistration.v1.NamedRuleWithOperations': ['apiGroups', 'apiVersions', 'operations', 'resources'],
  'admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec': ['policyName', 'validationActions'],
  'admissionregistration.v1.MutatingAdmissionPolicyBindingSpec': ['policyName'],
  'admissionregistration.v1.ValidatingWebhook': ['admissionReviewVersions'],
  'admissionregistration.v1.MutatingWebhook': ['admissionReviewVersions'],
}

/** Fields that OpenAPI requires and the API server does not (the same functions). */
const NOT_ENFORCED: Readonly<Record<string, readonly string[]>> = {
  'storage.v1.CSIDriver': ['spec'],
  'core.v1.LimitRangeSpec': ['limits'],
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion': ['served', 'storage'],
}

/** Whether the API server enforces a field that OpenAPI requires. */
const isEnforced = (type: string, field: string): boolean => !NOT_ENFORCED[type]?.includes(field)

const NONE: readonly string[] = []

/** Fields of a type that must be there and must not be empty. */
const filledFields = (type: string): readonly string[] => (Object.hasOwn(NOT_EMPTY, type) ? NOT_EMPTY[type]! : NONE)

/** Whether a value counts as absent where a value is needed. */
export const isEmpty = (node: Node | undefined): boolean => {
  if (node === undefined) return true
  if (node.type === 'list') return node.items.length === 0
  return node.type === 'scalar' && node.opaque === undefined && (node.value === null || node.value === '')
}
