import type { FleetNode } from '../fleet/model/fleet.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { Facts } from './facts.ts'
import type { FleetAnswers } from './fleet-answers.ts'
import type { Rendered } from './object-table.ts'

/**
 * What is still rendered of a namespace: the Namespace itself, else the first Kustomization or object in it. It looks at
 * every object of the cluster, so it is asked only of namespaces that a tenant lost.
 */
export function remainsIn(index: FleetAnswers, facts: Facts, cluster: string, namespace: string): Rendered | undefined {
  const itself = index.versionsOf(cluster, '/Namespace', '', namespace).find(isRendered)
  if (itself) return itself
  for (const { key } of facts.nodes().filter(one => one.cluster === cluster)) {
    const object = facts.objects(key).find(one => idOf(one).namespace === namespace)
    const node = object && facts.node(key)
    if (node && isRendered({ node, object })) return { node, object }
  }
  return undefined
}

/** What only a last complete build had is not what someone left there. */
const isRendered = ({ node, object }: { readonly node: FleetNode; readonly object: KubeObject }) =>
  !node.retained?.includes(object)
