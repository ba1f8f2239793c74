import { at } from '../kube/node.ts'
import { textMapOf } from '../kube/read-text.ts'
import type { FleetIndex } from './fleet-index.ts'

/**
 * The labels of a namespace that may be believed: those that the platform writes, and its name, which Kubernetes itself
 * writes. A tenant who may label a namespace could else select itself.
 */
export function namespaceLabels(index: FleetIndex, cluster: string, namespace: string): ReadonlyMap<string, string> {
  const object = index.platformObject(cluster, '/Namespace', '', namespace)
  const written = textMapOf(at(object?.root, ['metadata', 'labels'])) ?? []
  return new Map([...written, ['kubernetes.io/metadata.name', namespace]])
}
