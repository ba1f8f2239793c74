import { shown } from '../facts/shown.ts'
import { originAt } from '../kube/node.ts'
import { idOf } from '../kube/object.ts'
import { pointer } from '../kube/pointer.ts'
import {
  CONTROLLED_KINDS,
  possibleExceptors,
  type TenantControl,
  tenantControls,
} from '../rules/policies/support/tenant-controls.ts'
import { type AuditItem, place } from './audit-item.ts'
import type { AuditedCluster } from './audited-cluster.ts'

const EFFECTS: Readonly<Record<TenantControl['how'], string>> = {
  parameters: 'names parameters that they can write',
  labels: 'selects by labels of the object, which they set',
  annotations: 'selects by annotations of the object, which they set',
  names: 'selects by the name of the object, which they choose',
  condition: 'reads labels or annotations of the object, which they set',
  'namespace labels': 'selects by labels of Namespaces, which they may change',
  exceptions: 'lets Kyverno read PolicyExceptions that they can write',
}

const SELECT = 'Select by labels of Namespaces that only the platform sets.'
const FIXES: Readonly<Record<TenantControl['how'], string>> = {
  parameters: 'Set spec.paramRef.namespace to a namespace of the platform.',
  labels: SELECT,
  annotations: SELECT,
  names: SELECT,
  condition: SELECT,
  'namespace labels': 'Take the right to update Namespaces from the accounts of these tenants.',
  exceptions: 'Set features.policyExceptions.namespace to a namespace in which only the platform may write.',
}

/** Lists the policies that tenants can escape or loosen, each part once. */
export function* controlItems({ cluster, index }: AuditedCluster): Iterable<AuditItem> {
  const writers = possibleExceptors(index, cluster.name)
  if (writers.length > 0)
    yield {
      check: 'policy-control',
      subject: 'PolicyException',
      state: 'unknown',
      message: `${named(writers)} can write PolicyExceptions, and the fleet does not show from which namespaces Kyverno reads them`,
      why: 'a tenant whose exceptions Kyverno reads exempts its objects from every policy, without git',
      fix: 'Set features.policyExceptions.enabled and .namespace in the values of the HelmRelease of Kyverno.',
    }
  for (const kind of CONTROLLED_KINDS) {
    for (const { object } of index.platformAnywhere(cluster.name, kind)) {
      const id = idOf(object)
      const name = id.namespace ? `${id.namespace}/${id.name}` : id.name
      for (const { path, how, tenants } of tenantControls(index, cluster.name, kind, object)) {
        yield {
          check: 'policy-control',
          subject: name,
          state: 'weak',
          message: `${named(tenants)} can escape or loosen ${id.kind} ${shown(name)}: ${pointer(path)} ${EFFECTS[how]}`,
          why: 'a policy that depends on what a tenant writes holds only as long as the tenant agrees',
          fix: FIXES[how],
          origin: place(originAt(object.root, path)),
        }
      }
    }
  }
}

const named = (tenants: readonly string[]) =>
  `${tenants.length === 1 ? 'tenant' : 'tenants'} ${tenants.map(shown).join(', ')}`
