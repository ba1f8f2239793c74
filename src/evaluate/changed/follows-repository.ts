import { followed } from '../../facts/evaluated-repositories.ts'
import type { FleetNode, FleetRepository } from '../../fleet/model/fleet.ts'

/** Whether a node has content of a repository at this ref. */
export function followsRepository({ source }: FleetNode, repository: FleetRepository): boolean {
  if (source.opaque !== undefined) return false
  const key = followed(repository)
  return [source, ...(source.includes ?? [])].some(one => followed(one) === key)
}
