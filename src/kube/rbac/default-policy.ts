import type { Binding, BoundSubject, Role } from './binding.ts'
import table from './default-policy.json' with { type: 'json' }
import type { PolicyRule } from './policy-rule.ts'
import { roleKey } from './role-store.ts'

/** The roles (by `roleKey`) and bindings that an API server makes by itself. */
export interface DefaultPolicy {
  readonly roles: ReadonlyMap<string, Role>
  readonly bindings: readonly Binding[]
}

/** What Kubernetes 1.36 brings: held equal to a real API server's own by a test, which also writes the table. */
export const DEFAULT_POLICY: DefaultPolicy = {
  roles: new Map(table.roles.map(readRole).map(role => [roleKey(role.kind, role.namespace, role.name), role])),
  bindings: table.bindings.map(readBinding),
}

interface RoleRow {
  /** `Role <namespace>/<name>` or `ClusterRole <name>`. */
  readonly role: string
  readonly labels?: string
  /** Labels that it selects other roles by, one selector each. */
  readonly aggregates?: string
  readonly rules: readonly string[]
}

interface BindingRow {
  readonly binding: string
  readonly roleRef: string
  readonly subjects: readonly string[]
}

function readRole(row: RoleRow): Role {
  const labels = new Map([['kubernetes.io/bootstrapping', 'rbac-defaults'], ...pairs(row.labels)])
  const role = { ...readId(row.role), labels, rules: row.rules.map(readRule) } as Role
  const selectors = [...pairs(row.aggregates)].map(([key, value]) => [
    { key, operator: 'In' as const, values: [value] },
  ])
  return selectors.length > 0 ? { ...role, selectors } : role
}

/** `<verbs> <groups> <resources> [<names>]`, or `<verbs> <paths>`; lists with commas, the core group is empty. */
function readRule(text: string): PolicyRule {
  const [verbs = [], second = [], resources, resourceNames = []] = text.split(' ').map(part => part.split(','))
  if (!resources) return { verbs, apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: second }
  return { verbs, apiGroups: second, resources, resourceNames, nonResourceURLs: [] }
}

function readBinding(row: BindingRow): Binding {
  const [kind = '', name = ''] = row.roleRef.split(' ')
  const subjects = row.subjects.map(text => readId(text) as BoundSubject)
  return { ...readId(row.binding), roleRef: { kind, name }, subjects } as Binding
}

function readId(text: string): { readonly kind: string; readonly namespace: string; readonly name: string } {
  const [kind = '', path = ''] = text.split(' ')
  const slash = path.indexOf('/')
  return { kind, namespace: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) }
}

function pairs(text = ''): ReadonlyMap<string, string> {
  const labels = text.split(' ').filter(Boolean)
  return new Map(labels.map(label => [label.split('=')[0] ?? '', label.split('=')[1] ?? '']))
}
