import { oncePer, oncePerName } from '../../base/once-per.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { at, type Json, type Node, stringAt, toJson } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { accountOf, type UserInfo } from '../../kube/rbac/policy-rule.ts'
import type { AdmissionRequest, AdmissionWorld } from '../admission/admission-request.ts'
import { setDefaults } from '../admission/defaults.ts'
import { type KnownLabels, namespaceLabelsOf } from '../admission/request-value.ts'
import { type ContextValue, type Fields, fromJson, fromNode, isFields, isList, Unknown } from '../jmespath/values.ts'

/** The input of a rule. */
export interface RuleRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  /** The object; in a deletion, the object being deleted. */
  readonly object: ContextValue
  /** The object before an update. */
  readonly old?: ContextValue
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The part of an object that a request is about; absent for the object itself. */
  readonly subresource?: string
  readonly namespace: string
  readonly name: string
  /** The requesting user; undefined if not known, as in Kyverno's command line. */
  readonly user?: UserInfo
  /** `<namespace>:<name>`. */
  readonly roles: readonly string[]
  readonly clusterRoles: readonly string[]
  /** Labels of its namespace; undefined for a cluster-scoped object. */
  readonly namespaceLabels: KnownLabels | undefined
  /** Names available to expressions. */
  readonly context: Fields
}

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

/** Metadata fields that the API server sets before admission. */
const OF_SERVER = ['uid', 'generation', 'creationTimestamp', 'managedFields', 'resourceVersion']

/** An object at admission: with the defaults of built-in kinds, and unknown values where only the cluster knows. */
export const admittedValue = oncePer((object: KubeObject): ContextValue => {
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
  return made
})

/** The first value with unknown values at the places where the second has them. */
function overlaid(value: ContextValue, written: ContextValue): ContextValue {
  if (written instanceof Unknown) return written
  if (isList(value)) {
    return isList(written) ? value.map((item, index) => overlaid(item, written[index] ?? null)) : value
  }
  if (!isFields(value) || !isFields(written)) return value
  return new Map([...value].map(([key, item]) => [key, overlaid(item, written.get(key) ?? null)]))
}

const GROUP = 'rbac.authorization.k8s.io'

interface Roles {
  /** `<namespace>:<name>`. */
  readonly roles: readonly string[]
  readonly clusterRoles: readonly string[]
}

const kept = oncePerName<readonly KubeObject[], Roles>()

/** The roles that the fleet's bindings give a user for a request in a namespace (pkg/userinfo of Kyverno). */
function rolesOf(world: AdmissionWorld, user: UserInfo, namespace: string): Roles {
  const bindings = world.objects(`${GROUP}/RoleBinding`, undefined)
  const clusterBindings = world.objects(`${GROUP}/ClusterRoleBinding`, undefined)
  return kept(bindings, JSON.stringify([user.name, user.groups, namespace, clusterBindings.length]), () => {
    const own = bindings.filter(one => binds(one, user, idOf(one).namespace))
    const everywhere = clusterBindings.filter(one => binds(one, user, ''))
    return {
      roles: sorted(
        own.filter(one => roleOf(one).kind === 'Role').map(one => `${idOf(one).namespace}:${roleOf(one).name}`),
      ),
      clusterRoles: sorted(
        [...own.filter(one => idOf(one).namespace === namespace), ...everywhere]
          .filter(one => roleOf(one).kind === 'ClusterRole')
          .map(one => roleOf(one).name),
      ),
    }
  })
}

const sorted = (names: readonly string[]) => [...new Set(names)].sort()

function roleOf(binding: KubeObject): { readonly kind: string; readonly name: string } {
  const of = (key: string) => stringAt(binding.root, ['roleRef', key]) ?? ''
  return { kind: of('kind'), name: of('name') }
}

function binds(binding: KubeObject, user: UserInfo, namespace: string): boolean {
  const subjects = at(binding.root, ['subjects'])
  return subjects?.type === 'list' && subjects.items.some(subject => isUser(subject, user, namespace))
}

function isUser(subject: Node, user: UserInfo, namespace: string): boolean {
  const [kind, name = '', own] = ['kind', 'name', 'namespace'].map(key => stringAt(subject, [key]))
  if (kind === 'Group') return user.groups.includes(name)
  if (kind === 'User') return user.name === name
  const where = own || namespace
  return kind === 'ServiceAccount' && where !== '' && user.name === `system:serviceaccount:${where}:${name}`
}
