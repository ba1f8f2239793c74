import { nodeOf } from '../../../../src/fleet/model/kustomization-spec.ts'
import type { Json, MapNode } from '../../../../src/kube/node.ts'
import type { KubeObject } from '../../../../src/kube/object.ts'

const ORIGIN = { repository: 'test', file: 'rbac.yaml', line: 1, column: 1 }

/** An object as a fleet would render it. */
export function plainObject(json: Json): KubeObject {
  return { root: nodeOf(json, ORIGIN) as MapNode, trail: [] }
}

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

/** A Role, or a ClusterRole for the namespace ''. */
export function role(namespace: string, name: string, rules: Json, more: { [key: string]: Json } = {}): Json {
  return { apiVersion, kind: namespace ? 'Role' : 'ClusterRole', metadata: metadata(namespace, name), rules, ...more }
}

/** A RoleBinding, or a ClusterRoleBinding for the namespace ''; subjects as `User x`, `Group x`, `ServiceAccount ns/x`. */
export function binding(namespace: string, name: string, roleRef: string, ...subjects: string[]): Json {
  const [kind = '', role = ''] = roleRef.split(' ')
  return {
    apiVersion,
    kind: namespace ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: metadata(namespace, name),
    roleRef: { apiGroup, kind, name: role },
    subjects: subjects.map(subject),
  }
}

function subject(text: string): Json {
  const [kind = '', path = ''] = text.split(' ')
  if (kind !== 'ServiceAccount') return { apiGroup, kind, name: path }
  const [namespace = '', name] = path.split('/')
  return name === undefined ? { kind, name: namespace } : { kind, namespace, name }
}

function metadata(namespace: string, name: string): Json {
  return namespace ? { namespace, name } : { name }
}
