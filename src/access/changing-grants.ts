import type { Grant } from '../kube/rbac/authorizer.ts'
import type { PolicyRule } from '../kube/rbac/policy-rule.ts'
import type { ResourceTable } from '../kube/rbac/resource-table.ts'

const CHANGING = new Set(['*', 'create', 'update', 'patch', 'delete', 'deletecollection', 'impersonate'])
/** CommandContext these what one may do is written as `create`, and changes nothing. */
const QUESTIONS = new Set(['authentication.k8s.io', 'authorization.k8s.io'])

/** The grants that allow a change in a namespace: one per binding. */
export function changingGrants(grants: readonly Grant[], resources: ResourceTable): Grant[] {
  const found = new Map<Grant['binding'], Grant>()
  for (const grant of grants) {
    if (!found.has(grant.binding) && changes(grant.rule, resources)) found.set(grant.binding, grant)
  }
  return [...found.values()]
}

/** Whether a rule changes something that lives in a namespace, or the Namespace itself. */
function changes({ verbs, apiGroups, resources }: PolicyRule, table: ResourceTable): boolean {
  if (!verbs.some(verb => CHANGING.has(verb))) return false
  return apiGroups.some(
    group =>
      !QUESTIONS.has(group) &&
      resources.some(text => {
        const [resource = ''] = text.split('/')
        return table.get(group, resource)?.scope !== 'Cluster' || (group === '' && resource === 'namespaces')
      }),
  )
}
