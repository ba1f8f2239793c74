import { objectPart, quoted } from '../../facts/shown.ts'
import { message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

/** What limits a namespace from outside. */
const KINDS = [
  '/ResourceQuota',
  '/LimitRange',
  'networking.k8s.io/NetworkPolicy',
  'cilium.io/CiliumNetworkPolicy',
  'crd.projectcalico.org/NetworkPolicy',
  'projectcalico.org/NetworkPolicy',
]

/** Capsule names what it puts into the namespaces of a Tenant so. */
const CAPSULES = /^capsule-/

/** The limits that the platform sets in a tenant's namespace are the platform's. */
export const quotaTamper: Rule = {
  id: 'quota-tamper',
  severity: 'high',
  title: 'Changed limit of a namespace',
  why: "A tenant that rewrites the platform's ResourceQuota, LimitRange or NetworkPolicy removes the limits that separate tenants. With a forced server-side apply the last writer wins, and removing the object from git deletes it.",
  source: 'Kubernetes Multi-Tenancy Benchmark MTB-PL1-BC-CPI-2; Capsule: resourceQuotas, limitRanges, networkPolicies',
  docs: "Rename the tenant's own quota or policy. Names of the platform's objects and names that begin with `capsule-` are not allowed.",
  kinds: KINDS,
  *checkTenantObject({ object, id, kind, node }, { index }) {
    if (!index.owns(node.cluster, node.tenant, id.namespace)) return
    const isPlatforms = index.platformObject(node.cluster, kind, id.namespace, id.name) !== undefined
    if (!isPlatforms && !CAPSULES.test(id.name)) return
    const whose = isPlatforms ? 'the platform renders' : 'Capsule creates'
    yield {
      node,
      object,
      path: ['metadata', 'name'],
      value: id.name,
      message: message`${objectPart(id.kind, id.namespace, id.name)} limits the namespace, and ${whose} it: ${quoted('identity', node.identity.user)}, which acts for the tenant, would overwrite it. Allowed: objects with other names.`,
      fix: message`Remove the object, and ask a fleet admin to change the limit.`,
    }
  },
}
