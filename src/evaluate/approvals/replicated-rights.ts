import { kindOf } from '../../facts/kind-of.ts'
import { oncePer } from '../../facts/once-per.ts'
import { shownObject } from '../../facts/shown.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { CAPSULE_GROUP } from '../../fleet/tenancy/capsule.ts'
import { at, canonical } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { onePerGroup } from './one-per-group.ts'

const REPLICATIONS = new Set(['GlobalTenantResource', 'TenantResource'].map(kind => `${CAPSULE_GROUP}/${kind}`))
/** Kinds of RBAC, also in the template of a generator. */
const RIGHTS = /(?:Cluster)?Role(?:Binding)?["\s,}\\]/
const RBAC = /rbac\.authorization\.k8s\.io/

/**
 * Roles and bindings that Capsule newly copies into namespaces of Tenants for the platform, also into those that come later:
 * no binding is rendered there. Those of tenants have the rule `capsule-tenant-resource`.
 */
export function replicatedRights(head: Fleet, base: Fleet): RequiredApproval[] {
  const known = new Set(replicationsIn(base).map(({ key }) => key))
  return onePerGroup(
    replicationsIn(head).filter(({ key }) => !known.has(key)),
    ({ object }) => JSON.stringify(object.root.origin),
    ({ object }, others) => {
      const { kind, namespace, name } = idOf(object)
      const where =
        namespace === '' ? 'every namespace of the Tenants that it selects' : 'every namespace of its Tenant'
      const message = `${shownObject(kind, namespace, name)}${others} makes Capsule create roles or bindings in ${where}`
      return { rule: 'capsule-tenant-resource', path: object.root.origin.file, message }
    },
  )
}

const replicationsIn = oncePer(({ nodes }: Fleet): readonly { object: KubeObject; key: string }[] =>
  nodes.flatMap(node =>
    (node.tenant === undefined ? node.objects : []).flatMap(object => {
      const resources = REPLICATIONS.has(kindOf(object)) ? at(object.root, ['spec']) : undefined
      const text = resources ? canonical(resources) : ''
      if (!RBAC.test(text) || !RIGHTS.test(text)) return []
      const { kind, namespace, name } = idOf(object)
      return [{ object, key: JSON.stringify([node.cluster, kind, namespace, name, text]) }]
    }),
  ),
)
