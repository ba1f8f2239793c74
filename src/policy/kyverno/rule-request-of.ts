import { kindOf } from '../../facts/kind-of.ts'
import { type Json, toJson } from '../../kube/node.ts'
import { groupOf, type KubeObject } from '../../kube/object.ts'
import { accountOf } from '../../kube/rbac/groups-of.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { setDefaults } from '../admission/defaults.ts'
import { namespaceLabelsOf } from '../admission/namespace-value.ts'
import { type ContextValue, fromJson, fromNode, isFields, isList, Unknown } from './jmespath/values.ts'
import { rolesOf } from './roles-of.ts'
import type { RuleRequest } from './rule-request.ts'

/** The request in the form that Kyverno's webhook receives. */
export function ruleRequestOf(world: AdmissionWorld, request: AdmissionRequest): RuleRequest {
  const { id, operation, user, isNamespaced } = request
  const group = groupOf(id.apiVersion)
  const version = id.apiVersion.slice(group === '' ? 0 : group.length + 1)
  const namespace = isNamespaced ? id.namespace : ''
  const { roles, clusterRoles } = rolesOf(world, user, namespace)
  const object = admittedValue(request.object)
  const old = request.old && admittedValue(request.old)
  const base = { group, version, kind: id.kind, namespace, name: id.name, user, roles, clusterRoles }
  const labels = namespaceLabelsOf(world, request)
  const asked = { ...base, operation, object, ...(old ? { old } : {}), namespaceLabels: labels }
  return { ...asked, context: contextOf(asked, request) }
}

function contextOf(
  asked: Omit<RuleRequest, 'context'>,
  { resource }: AdmissionRequest,
): ReadonlyMap<string, ContextValue> {
  const { group, version, kind, namespace, name, operation, object, old, user } = asked
  const kinds = fromJson({ group, version, kind })
  const named = fromJson({ group, version, resource })
  const account = user && accountOf(user.name)
  const request = new Map<string, ContextValue>([
    ['uid', new Unknown('request.uid is set by the cluster')],
    ['kind', kinds],
    ['resource', named],
    ['requestKind', kinds],
    ['requestResource', named],
    ['name', name],
    // empty in JSON means absent
    ...(namespace === '' ? [] : ([['namespace', namespace]] as const)),
    ['operation', operation],
    ['userInfo', fromJson({ username: user?.name ?? '', groups: [...(user?.groups ?? [])] })],
    ['roles', asked.roles],
    ['clusterRoles', asked.clusterRoles],
    ['object', operation === 'DELETE' ? null : object],
    ['oldObject', operation === 'DELETE' ? object : (old ?? null)],
    ['dryRun', false],
    ['options', new Unknown('request.options is set by the client that applies the object')],
  ])
  return new Map<string, ContextValue>([
    ['request', request],
    ['serviceAccountName', account?.name ?? ''],
    ['serviceAccountNamespace', account?.namespace ?? ''],
  ])
}

/** Metadata fields that the API server sets before admission. */
const OF_SERVER = ['uid', 'generation', 'creationTimestamp', 'managedFields', 'resourceVersion']
const values = new WeakMap<KubeObject, ContextValue>()

/** An object at admission: with the defaults of built-in kinds, and unknown values where only the cluster knows. */
function admittedValue(object: KubeObject): ContextValue {
  const kept = values.get(object)
  if (kept !== undefined) return kept
  const json = toJson(object.root) as { [key: string]: Json }
  setDefaults(kindOf(object), json)
  const made = new Map(overlaid(fromJson(json), fromNode(object.root)) as ReadonlyMap<string, ContextValue>)
  if (object.sealed) {
    for (const key of ['data', 'stringData']) if (made.has(key)) made.set(key, new Unknown('its values are encrypted'))
  }
  made.set('status', new Unknown('status is set by the cluster'))
  const metadata = made.get('metadata')
  if (isFields(metadata)) {
    const filled = OF_SERVER.map(key => [key, new Unknown(`metadata.${key} is set by the cluster`)] as const)
    made.set('metadata', new Map<string, ContextValue>([...metadata, ...filled]))
  }
  values.set(object, made)
  return made
}

/** The first value with unknown values at the places where the second has them. */
function overlaid(value: ContextValue, written: ContextValue): ContextValue {
  if (written instanceof Unknown) return written
  if (isList(value)) {
    return isList(written) ? value.map((item, index) => overlaid(item, written[index] ?? null)) : value
  }
  if (!isFields(value) || !isFields(written)) return value
  return new Map([...value].map(([key, item]) => [key, overlaid(item, written.get(key) ?? null)]))
}
