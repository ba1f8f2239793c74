import { CelAuthorizer } from '../../cel/kubernetes/authorizer.ts'
import { CelMap, type CelValue, NotKnown } from '../../cel/values.ts'
import { groupOf } from '../../kube/object.ts'
import type { AdmissionRequest } from './admission-request.ts'
import type { AdmissionWorld } from './admission-world.ts'
import { requestNamespace } from './request-namespace.ts'

/** `request`, as the API server fills it for an apply (k8s.io/api/admission/v1 AdmissionRequest). */
export function requestValue(request: AdmissionRequest): CelMap {
  const { id, operation, user, resource } = request
  const namespace = requestNamespace(request)
  const group = groupOf(id.apiVersion)
  const version = id.apiVersion.slice(group === '' ? 0 : group.length + 1)
  const kind = mapOf({ group, version, kind: id.kind })
  const named = mapOf({ group, version, resource })
  return mapOf({
    uid: '',
    kind,
    resource: named,
    requestKind: kind,
    requestResource: named,
    name: id.name,
    // left out where it is empty, as in JSON
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: mapOf({ username: user.name, groups: user.groups }),
    dryRun: false,
    options: new NotKnown('request.options is set by the client that applies the object'),
  })
}

/** `authorizer`, for who asks. */
export function authorizerValue(world: AdmissionWorld, request: AdmissionRequest): CelAuthorizer {
  const { id, resource } = request
  const namespace = requestNamespace(request)
  const asked = {
    ...{ apiGroup: groupOf(id.apiVersion), resource, name: id.name },
    ...(namespace === '' ? {} : { namespace }),
  }
  return new CelAuthorizer(request.user, world.authorize, asked)
}

function mapOf(fields: Readonly<Record<string, CelValue>>): CelMap {
  return new CelMap(new Map(Object.entries(fields).map(([key, value]) => [`s${key}`, [key, value] as const])))
}
