import { writtenText } from '../../kube/edit-node.ts'
import { at } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import type { Resource, ResourceId } from '../resource/resource.ts'

/** An identity with the namespace as it is written: '' for none. Past ones have the namespace that was in effect. */
export type RawId = ResourceId

/** The identity that an object has, then those that it had (api/internal/utils, MakeResIds). */
export function idsOf(resource: Resource): RawId[] {
  const { root, previous } = resource
  const apiVersion = writtenText(at(root, ['apiVersion']))
  const group = groupOf(apiVersion)
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const current = {
    group,
    version,
    kind: writtenText(at(root, ['kind'])),
    namespace: writtenText(at(root, ['metadata', 'namespace'])),
    name: writtenText(at(root, ['metadata', 'name'])),
  }
  return [current, ...previous.map(id => ({ ...id, group, version }))]
}
