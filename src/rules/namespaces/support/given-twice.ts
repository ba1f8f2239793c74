import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { TENANT_LABEL } from '../../../fleet/tenancy/tenancy.ts'
import { stringAt } from '../../../kube/node.ts'
import { message } from '../../../message/message.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'

/**
 * What the platform writes for one tenant into the namespace of another one. `flux create tenant` labels a tenant's
 * account and binding with its name: two names in one namespace are two tenants who share their rights.
 */
export function* givenTwice({ object, id, node }: Subject, { index, before }: RuleContext): Iterable<Violation> {
  const label = stringAt(object.root, TENANT_LABEL)
  if (!label) return
  const owner = index.givenTo(node.cluster, id.namespace)
  if (owner === undefined || owner === label) return
  // Who was there first is not the one to move: the Namespace that was taken says so.
  if (before?.givenTo(node.cluster, id.namespace) === label) return
  yield {
    node,
    object,
    path: TENANT_LABEL,
    value: `${label} in ${owner}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} is labeled for tenant ${quoted('tenant', label)}, but its namespace belongs to tenant ${quoted('tenant', owner)}: they would share accounts, secrets and rights. Allowed: one tenant per namespace. Flux and the API server accept it.`,
    fix: message`Create a separate namespace for tenant ${quoted('tenant', label)} (flux create tenant --with-namespace).`,
  }
}
