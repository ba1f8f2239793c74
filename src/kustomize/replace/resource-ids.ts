import { writtenText } from '../../kube/edit-node.ts'
import { at } from '../../kube/node.ts'
import type { Resource, ResourceId } from '../resource/resource.ts'

/** An identity with the namespace as it is written: '' for none. Past ones have the namespace that was in effect. */
export type RawId = ResourceId

/** The identity that an object has, then those that it had (api/internal/utils, MakeResIds). */
export function idsOf(resource: Resource): readonly RawId[] {
  const { current, previous } = resource
  const namespace = writtenText(at(resource.root, ['metadata', 'namespace']))
  const now = namespace === current.namespace ? current : { ...current, namespace }
  if (previous.length === 0) return [now]
  const { group, version } = current
  return [now, ...previous.map(id => (id.group === group && id.version === version ? id : { ...id, group, version }))]
}
