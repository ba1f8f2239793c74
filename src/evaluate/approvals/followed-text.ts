import type { FleetNode } from '../../fleet/model/fleet.ts'
import { refKey } from '../../fleet/model/ref.ts'

/** What a node follows, as `address#revision`; the source object where that has no address. */
export function followedText({ source: { url, id, ref } }: Pick<FleetNode, 'source'>): string {
  const revision = ref.commit ?? ref.name ?? ref.semver ?? ref.tag ?? ref.branch
  return `${url || id}${revision === undefined ? '' : `#${revision}`}`
}

/** Whether two nodes follow the same revision of the same repository. */
export function isSame(a: Pick<FleetNode, 'source'>, b: Pick<FleetNode, 'source'>): boolean {
  return a.source.url === b.source.url && refKey(a.source.ref) === refKey(b.source.ref)
}
