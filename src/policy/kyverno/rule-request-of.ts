import { groupOf, type KubeObject } from '../../kube/object.ts'
import { accountOf } from '../../kube/rbac/groups-of.ts'
import type { UserInfo } from '../../kube/rbac/request.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { namespaceLabelsOf } from '../admission/namespace-value.ts'
import { admittedValue } from './admitted-value.ts'
import { type ContextValue, fromJson, fromNode, Unknown } from './jmespath/values.ts'
import { rolesOf } from './roles-of.ts'
import type { RuleRequest } from './rule-request.ts'

/** The request in the form that Kyverno's webhook receives. */
export function ruleRequestOf(world: AdmissionWorld, request: AdmissionRequest): RuleRequest {
  const { id, operation, user, isNamespaced, parent } = request
  const { apiVersion, kind } = parent ?? id
  const group = groupOf(apiVersion)
  const version = apiVersion.slice(group === '' ? 0 : group.length + 1)
  const namespace = isNamespaced ? id.namespace : ''
  const { roles, clusterRoles } = rolesOf(world, user, namespace)
  const writtenValue = world.given ? ({ root }: KubeObject) => fromNode(root) : admittedValue
  const object = writtenValue(request.object)
  const old = request.old && writtenValue(request.old)
  // Kyverno's command line ignores users where a test names none
  const isKnown = !world.given || user.name !== '' || user.groups.length > 0
  const base = {
    group,
    version,
    kind,
    ...(parent ? { subresource: parent.subresource } : {}),
    namespace,
    name: id.name,
    roles,
    clusterRoles,
    ...(isKnown ? { user } : {}),
  }
  const labels = namespaceLabelsOf(world, request)
  const asked = { ...base, operation, object, ...(old ? { old } : {}), namespaceLabels: labels }
  return { ...asked, context: world.given ? testContext(asked) : contextOf(asked, request) }
}

/** The names that Kyverno's command line has: fewer than its webhook, and of a user only where the test names one. */
function testContext(asked: Omit<RuleRequest, 'context'>): ReadonlyMap<string, ContextValue> {
  const { namespace, operation, object, old, user } = asked
  const before = operation === 'DELETE' ? object : old
  const request = new Map<string, ContextValue>([
    ['operation', operation],
    ['namespace', namespace],
    ...(operation === 'DELETE' ? [] : [['object', object] as const]),
    ...(before === undefined ? [] : [['oldObject', before] as const]),
    ...(user ? ofUser(user, asked) : []),
  ])
  return new Map<string, ContextValue>([['request', request], ...(user ? ofAccount(user) : [])])
}

/** Go leaves out what is empty (RequestInfo of kyverno api/kyverno/v2), so a policy that reads it gets an error. */
function ofUser(
  { name, groups }: UserInfo,
  { roles, clusterRoles }: Pick<RuleRequest, 'roles' | 'clusterRoles'>,
): (readonly [string, ContextValue])[] {
  const userInfo = {
    ...(name === '' ? {} : { username: name }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
  }
  return [
    ['userInfo', fromJson(userInfo)],
    ...(roles.length === 0 ? [] : [['roles', roles] as const]),
    ...(clusterRoles.length === 0 ? [] : [['clusterRoles', clusterRoles] as const]),
  ]
}

function ofAccount(user: UserInfo) {
  const account = accountOf(user.name)
  return [
    ['serviceAccountName', account?.name ?? ''],
    ['serviceAccountNamespace', account?.namespace ?? ''],
  ] as const
}

const NO_USER: UserInfo = { name: '', groups: [] }

function contextOf(
  asked: Omit<RuleRequest, 'context'>,
  { resource }: AdmissionRequest,
): ReadonlyMap<string, ContextValue> {
  const { group, version, kind, namespace, name, operation, object, old, user = NO_USER } = asked
  const kinds = fromJson({ group, version, kind })
  const named = fromJson({ group, version, resource })
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
    ...ofUser(user, asked),
    ['object', operation === 'DELETE' ? null : object],
    ['oldObject', operation === 'DELETE' ? object : (old ?? null)],
    ['dryRun', false],
    ['options', new Unknown('request.options is set by the client that applies the object')],
  ])
  return new Map<string, ContextValue>([['request', request], ...ofAccount(user)])
}
