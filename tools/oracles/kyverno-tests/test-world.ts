import type { AdmissionWorld } from '../../../src/admission/admission/admission-request.ts'
import type { Origin } from '../../../src/base/origin.ts'
import { kindOf } from '../../../src/fleet/facts/object-table.ts'
import { nodeOf } from '../../../src/fleet/model/kustomization-spec.ts'
import { type MapNode, stringAt } from '../../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../../src/kube/object.ts'
import type { UserInfo } from '../../../src/kube/rbac/policy-rule.ts'
import type { TestValues } from './test-values.ts'

/** The requesting user of a test, with the roles that the test assigns. */
export interface TestUser {
  readonly user: UserInfo
  readonly roles: readonly string[]
  readonly clusterRoles: readonly string[]
}

/** A cluster with exactly these objects, all owned by the platform. */
export function testWorld(objects: readonly KubeObject[], origin: Origin): AdmissionWorld {
  const named = new Map(objects.map(object => [keyOf(object), object]))
  const byKind = Map.groupBy(named.values(), kindOf)
  const inNamespace = (kind: string, namespace: string) =>
    (byKind.get(kind) ?? []).filter(object => idOf(object).namespace === namespace)
  return {
    policies: kind => byKind.get(kind) ?? NONE,
    policiesIn: inNamespace,
    object: (kind, namespace, name) => named.get(JSON.stringify([kind, namespace, name])),
    objects: (kind, namespace) => (namespace === undefined ? (byKind.get(kind) ?? NONE) : inNamespace(kind, namespace)),
    authorize: () => ({ allowed: false, reason: '', unknown: `a test has no RBAC (${origin.file})` }),
  }
}

const NONE: readonly KubeObject[] = []

function keyOf(object: KubeObject): string {
  const { namespace, name } = idOf(object)
  return JSON.stringify([kindOf(object), namespace, name])
}

/** Bindings that give a user the roles that the test assigns. */
export function bindingsOf({ user, roles, clusterRoles }: TestUser, origin: Origin): KubeObject[] {
  const subjects = [
    { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user.name },
    ...user.groups.map(name => ({ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name })),
  ]
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const roleRef = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })
  return [
    ...clusterRoles.map((name, at) => ({
      ...{ apiVersion, kind: 'ClusterRoleBinding', metadata: { name: `test-${at}` } },
      ...{ roleRef: roleRef('ClusterRole', name), subjects },
    })),
    ...roles.map((text, at) => {
      const [namespace = '', name = ''] = text.includes(':') ? text.split(':') : ['default', text]
      const metadata = { name: `test-${at}`, namespace }
      return { apiVersion, kind: 'RoleBinding', metadata, roleRef: roleRef('Role', name), subjects }
    }),
  ].map(value => objectOf(value, origin))
}

const objectOf = (value: Parameters<typeof nodeOf>[0], origin: Origin): KubeObject => ({
  root: nodeOf(value, origin) as MapNode,
  trail: [],
})

/** Bindings for the ValidatingAdmissionPolicies without one, because a test evaluates each policy. */
export function unboundOf(objects: readonly KubeObject[], origin: Origin): KubeObject[] {
  const ofKind = (kind: string) => objects.filter(object => idOf(object).kind === kind)
  const bound = new Set(
    ofKind('ValidatingAdmissionPolicyBinding').map(({ root }) => stringAt(root, ['spec', 'policyName'])),
  )
  return ofKind('ValidatingAdmissionPolicy').flatMap(policy => {
    const { name, apiVersion } = idOf(policy)
    if (bound.has(name)) return []
    const spec = { policyName: name, validationActions: ['Deny'] }
    return [objectOf({ apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, spec }, origin)]
  })
}

/** The Namespaces of a test's values. */
export function namespacesOf(namespaces: TestValues['namespaces'], origin: Origin): KubeObject[] {
  return [...namespaces.values()].map(value => objectOf(value, origin))
}
