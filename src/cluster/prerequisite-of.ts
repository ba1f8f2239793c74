import type { Json } from '../kube/node.ts'
import { groupOf, type ObjectId } from '../kube/object.ts'
import { stringAt } from './json-at.ts'

const RBAC = 'rbac.authorization.k8s.io'

/**
 * The object of the same stage without which the API server refuses this one, so that a dry run of both at once fails:
 * the Role whose rules a RoleBinding gives away, the account of a bare Pod. Flux fails there for ever.
 */
export function prerequisiteOf(object: Json): ObjectId | undefined {
  const kind = stringAt(object, 'kind')
  const group = groupOf(stringAt(object, 'apiVersion'))
  const namespace = stringAt(object, 'metadata', 'namespace')
  if (kind === 'RoleBinding' && group === RBAC && stringAt(object, 'roleRef', 'kind') === 'Role') {
    return { apiVersion: `${RBAC}/v1`, kind: 'Role', namespace, name: stringAt(object, 'roleRef', 'name') }
  }
  if (kind === 'Pod' && group === '') {
    const name = stringAt(object, 'spec', 'serviceAccountName')
    return name === '' ? undefined : { apiVersion: 'v1', kind: 'ServiceAccount', namespace, name }
  }
  return undefined
}
