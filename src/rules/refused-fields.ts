import { at, type Node } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'

/** Fields of a Flux Kustomization that the worker honours, or that change nothing about what it applies. */
const HONOURED = new Set([
  'interval',
  'retryInterval',
  'timeout',
  'sourceRef',
  'path',
  'prune',
  'suspend',
  'serviceAccountName',
  'dependsOn',
  'targetNamespace',
  'patches',
  'patchesStrategicMerge',
  'patchesJson6902',
  'validation',
])

/** Fields of a Kustomization that the worker does not honour yet: it refuses to apply rather than to ignore them. */
export function refusedFields(kustomization: KubeObject): string[] {
  const spec = at(kustomization.root, ['spec'])
  if (spec?.type !== 'map') return []
  const set = [...spec.fields].filter(([key, field]) => !HONOURED.has(key) && !isUnset(field.value))
  const dependsOn = at(spec, ['dependsOn'])
  const conditions = dependsOn?.type === 'list' && dependsOn.items.some(item => at(item, ['readyExpr']))
  return [...set.map(([key]) => `spec.${key}`), ...(conditions ? ['spec.dependsOn.readyExpr'] : [])].sort()
}

/** Written, but with the value that says nothing. */
function isUnset(node: Node): boolean {
  if (node.type === 'scalar') return node.value === null || node.value === false || node.value === ''
  return node.type === 'list' ? node.items.length === 0 : node.fields.size === 0
}
