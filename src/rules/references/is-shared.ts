import { at, type Node } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Reference } from '../../kube/references.ts'
import type { FleetIndex } from '../fleet-index.ts'

/**
 * Whether the source that is referred to opens itself to a namespace by `spec.accessFrom` (RFC-0002): selectors are
 * OR-ed, labels of one AND-ed, none matches every namespace, no selector matches nobody. Only what the platform renders
 * is believed, for the source as for the labels: a tenant could label itself in.
 */
export function isShared(index: FleetIndex, cluster: string, from: string, reference: Reference): boolean {
  if (reference.namespace === null) return false
  const group = reference.kind === 'ImageRepository' ? 'image.toolkit.fluxcd.io' : 'source.toolkit.fluxcd.io'
  const kind = `${group}/${reference.kind}`
  const source = index.platformObject(cluster, kind, reference.namespace, reference.name)
  const selectors = at(source?.root, ['spec', 'accessFrom', 'namespaceSelectors'])
  if (selectors?.type !== 'list') return false
  const namespace = index.platformObject(cluster, '/Namespace', '', from)
  return selectors.items.some(selector => matches(at(selector, ['matchLabels']), namespace, from))
}

function matches(labels: Node | undefined, namespace: KubeObject | undefined, name: string): boolean {
  if (!labels || (labels.type === 'scalar' && labels.value === null)) return true
  if (labels.type !== 'map') return false
  return [...labels.fields].every(([key, { value }]) => {
    const wanted = value.type === 'scalar' ? value.value : undefined
    if (key === 'kubernetes.io/metadata.name') return wanted === name
    const have = at(namespace?.root, ['metadata', 'labels', key])
    return have?.type === 'scalar' && typeof have.value === 'string' && have.value === wanted
  })
}
