import { at, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { UNKNOWN_VALUES } from '../../rules/model/unknown-values.ts'

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
  'kubeConfig',
  'dependsOn',
  'wait',
  'force',
  'deletionPolicy',
  'ignore',
  'healthChecks',
  'healthCheckExprs',
  'targetNamespace',
  'patches',
  'images',
  'components',
  'ignoreMissingComponents',
  'namePrefix',
  'nameSuffix',
  'buildMetadata',
  'commonMetadata',
  'patchesStrategicMerge',
  'patchesJson6902',
  'postBuild',
  'decryption',
  'validation',
])

/**
 * What the worker does not honour yet, fields of the Kustomization and values that are only known to
 * the cluster: it refuses to apply rather than to ignore them.
 */
export function refusedFields(kustomization: KubeObject, objects: readonly KubeObject[]): string[] {
  const spec = at(kustomization.root, ['spec'])
  if (spec?.type !== 'map') return []
  const set = [...spec.fields].filter(([key, field]) => !HONOURED.has(key) && !isUnset(field.value))
  // only substitution and decryption make values unknown
  const mayHide = spec.fields.has('postBuild') || spec.fields.has('decryption')
  const hidden = mayHide && objects.some(object => isOpaque(object.root))
  // its artifact has a revision of its own, which nobody but the cluster knows
  const isGenerated = stringAt(spec, ['sourceRef', 'kind']) === 'ExternalArtifact'
  const generated = isGenerated ? ['spec.sourceRef.kind'] : []
  return [...generated, ...set.map(([key]) => `spec.${key}`), ...(hidden ? [UNKNOWN_VALUES] : [])].sort()
}

function isOpaque(node: Node): boolean {
  if (node.type === 'scalar') return node.opaque !== undefined
  if (node.type === 'list') return node.items.some(isOpaque)
  for (const field of node.fields.values()) if (isOpaque(field.value)) return true
  return false
}

/** Written, but with the value that says nothing. */
function isUnset(node: Node): boolean {
  if (node.type === 'scalar') return node.value === null || node.value === false || node.value === ''
  return node.type === 'list' ? node.items.length === 0 : node.fields.size === 0
}
