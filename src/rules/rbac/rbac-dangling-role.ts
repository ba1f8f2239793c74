import { objectPart, quoted } from '../../facts/shown.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { userOfAccount } from '../../kube/rbac/groups-of.ts'
import { readBinding } from '../../kube/rbac/read-binding.ts'
import { message, part } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

/** A binding to a role that is not there: whoever makes the role later decides what was granted. */
export const rbacDanglingRole: Rule = {
  id: 'rbac-dangling-role',
  severity: 'low',
  level: 'warning',
  title: 'Binding to a role that does not exist',
  why: 'A binding to a missing role grants nothing until the role is created, for example by a platform chart. It then grants everything in that role. The API server rejects the binding unless its author has the verb `bind`.',
  source:
    'https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping',
  docs: 'Name a Role that the fleet renders in the same namespace, or a ClusterRole that the platform renders. `view`, `edit` and `admin` of Kubernetes are allowed too. For bindings of the platform, only a misspelled name in a binding of people is reported.',
  kinds: [`${RBAC_GROUP}/RoleBinding`, `${RBAC_GROUP}/ClusterRoleBinding`],
  *checkObject({ object, node, id }, { index }) {
    const binding = readBinding(object)
    if (!binding || index.roleRules(node.cluster, binding.roleRef, binding.namespace)) return
    const users = binding.subjects.map(one =>
      one.kind === 'ServiceAccount' ? userOfAccount(one.namespace, one.name) : one.name,
    )
    // account-cannot-apply names the role where an account lacks it
    const nodes = binding.subjects.flatMap(one => index.nodesIn(node.cluster, one.namespace))
    if ([node, ...nodes].some(({ key }) => index.refusals(key).some(({ user }) => users.includes(user)))) return
    const { kind, name } = binding.roleRef
    const meant = index.meantRole(node.cluster, binding)
    // what the platform binds to may come from a chart, and what its accounts lack is said of what they apply
    const isForAccounts = binding.subjects.some(one => one.kind === 'ServiceAccount')
    if (node.tenant === undefined && (meant === undefined || isForAccounts)) return
    const answer = `${kind.toLowerCase()}s.${RBAC_GROUP} "${name}" not found`
    yield {
      node,
      object,
      path: ['roleRef', 'name'],
      value: `${kind} ${name}`,
      message: message`${objectPart(id.kind, id.namespace, id.name)} binds to ${part('object', kind)} ${quoted('object', name)}, which does not exist in the fleet or in Kubernetes: the binding grants whatever that role contains later. Allowed: roles that exist. API server, unless the account may bind any role: ${quoted('value', answer)}.`,
      fix: meant
        ? message`Set roleRef.name to ${part('object', meant)}, or render the role.`
        : message`Set roleRef.name to a role that exists, or render the role.`,
    }
  },
}
