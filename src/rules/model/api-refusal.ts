import { groupOf, type ObjectId } from '../../kube/object.ts'
import { forbidden } from '../../kube/rbac/request.ts'
import { resourceOf } from '../../kube/rbac/resource-name.ts'

/** More of a name is no name, and only makes a message longer. */
const MAX_NAME = 253

/** What the API server answers somebody who may not apply an object; without a namespace it belongs to the cluster. */
export function apiRefusal(user: string, { apiVersion, kind, namespace, name }: ObjectId): string {
  const request = {
    verb: 'patch',
    apiGroup: groupOf(apiVersion),
    resource: resourceOf(apiVersion, kind.slice(0, 63), new Map()),
    namespace,
    name: name.slice(0, MAX_NAME),
  }
  return forbidden({ name: user, groups: [] }, request)
}
