import { at, type Node } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { PolicyRule } from '../../../kube/rbac/policy-rule.ts'

/** A rule as it is written, and its place in the list. */
interface WrittenRule {
  readonly at: number
  readonly rule: PolicyRule
}

/**
 * The rules that a Role or ClusterRole has in its file, read generously: what the API server would refuse as a whole is
 * still read as far as it says something, since another reader may take it.
 */
export function writtenRules(object: KubeObject): WrittenRule[] {
  const list = at(object.root, ['rules'])
  if (list?.type !== 'list') return []
  return list.items.map((item, index) => ({
    at: index,
    rule: {
      verbs: texts(item, 'verbs'),
      apiGroups: texts(item, 'apiGroups'),
      resources: texts(item, 'resources'),
      resourceNames: texts(item, 'resourceNames'),
      nonResourceURLs: texts(item, 'nonResourceURLs'),
    },
  }))
}

function texts(item: Node, field: string): string[] {
  const found = at(item, [field])
  const nodes = found?.type === 'list' ? found.items : found ? [found] : []
  return nodes.flatMap(node => {
    if (node.type !== 'scalar') return []
    return [node.value === null ? '' : String(node.value)]
  })
}
