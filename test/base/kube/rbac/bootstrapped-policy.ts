import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestCluster } from '../../../../tools/envtest/start.ts'
import { startCluster } from '../../../../tools/envtest/start.ts'

const TABLE = join(import.meta.dirname, '../../../../src/kube/rbac/default-policy.json')
const BOOTSTRAPPED = 'labelSelector=kubernetes.io/bootstrapping=rbac-defaults'

interface Item {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> }
  readonly rules?: readonly Record<string, readonly string[]>[] | null
  readonly aggregationRule?: {
    readonly clusterRoleSelectors: readonly { readonly matchLabels: Record<string, string> }[]
  }
  readonly roleRef: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]
}

/** What the API server of a fresh cluster has made by itself, as src/kube/rbac/default-policy.json holds it. */
export async function bootstrappedPolicy(cluster: Pick<TestCluster, 'request'>): Promise<unknown> {
  const list = async (resource: string) => {
    const answer = await cluster.request('GET', `/apis/rbac.authorization.k8s.io/v1/${resource}?${BOOTSTRAPPED}`)
    const { items } = answer.body as unknown as { items: Item[] }
    return items.sort((a, b) => (id(a) < id(b) ? -1 : 1))
  }
  const [clusterRoles, roles] = [await list('clusterroles'), await list('roles')]
  const [clusterBindings, bindings] = [await list('clusterrolebindings'), await list('rolebindings')]
  return {
    roles: [...clusterRoles.map(item => roleRow('ClusterRole', item)), ...roles.map(item => roleRow('Role', item))],
    bindings: [
      ...clusterBindings.map(item => bindingRow('ClusterRoleBinding', item)),
      ...bindings.map(item => bindingRow('RoleBinding', item)),
    ],
  }
}

const id = ({ metadata: { namespace, name } }: Item) => (namespace ? `${namespace}/${name}` : name)

function roleRow(kind: string, item: Item) {
  const labels = Object.entries(item.metadata.labels ?? {}).filter(([key]) => key.includes('aggregate-to-'))
  const selectors = item.aggregationRule?.clusterRoleSelectors.flatMap(one => Object.entries(one.matchLabels)) ?? []
  return {
    role: `${kind} ${id(item)}`,
    ...(labels.length > 0 ? { labels: pairs(labels) } : {}),
    ...(selectors.length > 0 ? { aggregates: pairs(selectors) } : {}),
    // of an aggregated role the controller writes them
    rules: selectors.length > 0 ? [] : (item.rules ?? []).map(ruleText),
  }
}

function ruleText({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }): string {
  const parts = nonResourceURLs.length > 0 ? [verbs, nonResourceURLs] : [verbs, apiGroups, resources]
  return [...parts, ...(resourceNames.length > 0 ? [resourceNames] : [])].map(part => part.join(',')).join(' ')
}

function bindingRow(kind: string, item: Item) {
  const subjects = (item.subjects ?? []).map(
    ({ kind, namespace, name }) => `${kind} ${namespace ? `${namespace}/` : ''}${name}`,
  )
  return { binding: `${kind} ${id(item)}`, roleRef: `${item.roleRef.kind} ${item.roleRef.name}`, subjects }
}

const pairs = (entries: readonly (readonly [string, string])[]) =>
  entries.map(([key, value]) => `${key}=${value}`).join(' ')

/** Writes the table anew: node test/base/kube/rbac/bootstrapped-policy.ts, then biome. */
if (import.meta.main) {
  const cluster = await startCluster({ workerRbac: false })
  try {
    writeFileSync(TABLE, `${JSON.stringify(await bootstrappedPolicy(cluster), null, 2)}\n`)
  } finally {
    await cluster.stop()
  }
}
