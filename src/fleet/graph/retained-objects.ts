import { canonical } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { isRestricting } from '../lockdown/is-restricting.ts'
import type { FleetNode } from '../model/fleet.ts'
import { hasMoreCauses } from '../model/has-more-causes.ts'
import { isIncomplete } from '../model/is-complete.ts'

type Built = Pick<FleetNode, 'objects' | 'digest' | 'source' | 'error' | 'holes'>

/**
 * What of a node's last complete build counts beside what it renders now. Where the node builds as a whole, nothing does.
 * Where `before` lacked parts for the same causes, what it had and the node has not was taken out on purpose, so only what
 * `before` itself retained still counts.
 */
export function retainedObjects(node: Built, before: FleetNode | undefined): readonly KubeObject[] {
  if (!before || !isIncomplete(node)) return []
  const earlier = hasMoreCauses(node, before)
    ? [...before.objects, ...(before.retained ?? [])]
    : (before.retained ?? [])
  const present = new Map(node.objects.map(object => [keyOf(object), object]))
  const isVague = node.holes?.some(({ effect }) => effect === 'different') ?? false
  const kept = earlier.filter(object => {
    const now = present.get(keyOf(object))
    return !now || (isVague && isRestricting(object) && canonical(now.root) !== canonical(object.root))
  })
  // of two versions of one object the first is what `before` itself rendered
  return [...new Map(kept.toReversed().map(object => [keyOf(object), object])).values()].toReversed()
}

function keyOf(object: KubeObject): string {
  const { apiVersion, kind, namespace, name } = idOf(object)
  return [groupOf(apiVersion), kind, namespace, name].join('\0')
}
