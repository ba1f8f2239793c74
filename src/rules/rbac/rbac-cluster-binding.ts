import { identityPart, objectPart, quoted } from '../../facts/shown.ts'
import { at, stringAt } from '../../kube/node.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { message, part } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

/** A ClusterRoleBinding of a tenant: rights in every namespace, for whomever. */
export const rbacClusterBinding: Rule = {
  id: 'rbac-cluster-binding',
  severity: 'critical',
  title: 'ClusterRoleBinding for a tenant',
  why: 'A ClusterRoleBinding grants the role in every namespace, including those of other tenants and of the platform.',
  source: 'https://github.com/kubernetes-sigs/multi-tenancy (benchmarks, MTB-PL1-CC-CPI-1)',
  docs: 'Write a RoleBinding in a namespace of the tenant. It may name a ClusterRole. The platform grants cluster-wide rights only to accounts in its own namespaces.',
  kinds: [`${RBAC_GROUP}/ClusterRoleBinding`],
  *checkTenantObject({ object, node, id }) {
    const role = stringAt(object.root, ['roleRef', 'name']) ?? ''
    const subjects = at(object.root, ['subjects'])
    const count = subjects?.type === 'list' ? subjects.items.length : 0
    yield {
      node,
      object,
      path: at(object.root, ['roleRef']) ? ['roleRef'] : ['kind'],
      value: role,
      message: message`${objectPart(id.kind, '', id.name)} binds ${count} ${count === 1 ? 'subject' : 'subjects'} to ${quoted('value', role)} in every namespace of the cluster, and ${identityPart(node.identity)} would apply it. Allowed: a RoleBinding in the tenant's namespaces. API server, unless the account has rights there: clusterrolebindings.rbac.authorization.k8s.io is forbidden: User "${part('identity', node.identity.user)}" cannot patch resource "clusterrolebindings" in API group "rbac.authorization.k8s.io" at the cluster scope.`,
      fix: message`Replace it with a RoleBinding, and set metadata.namespace to one of the tenant's namespaces.`,
    }
  },
}
