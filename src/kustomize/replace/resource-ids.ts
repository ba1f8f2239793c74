import type { Resource, ResourceId } from '../resource/resource.ts'

/** An identity with the namespace as it is written: '' for none. Past ones have the namespace that was in effect. */
export type RawId = ResourceId

/** The identity that an object has, then those that it had (api/internal/utils, MakeResIds). */
export function idsOf(resource: Resource): readonly RawId[] {
  return resource.writtenIds
}
