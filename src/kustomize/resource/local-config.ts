import { at, type MapNode } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'

/** The annotation that keeps an object out of what a build gives (any value but `false`); undefined without it. */
export function localConfig(root: MapNode): Origin | undefined {
  const value = at(root, ['metadata', 'annotations', 'config.kubernetes.io/local-config'])
  return value !== undefined && !(value.type === 'scalar' && value.value === 'false') ? value.origin : undefined
}
