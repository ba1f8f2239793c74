import { buildFleet } from '../fleet/graph/build-fleet.ts'
import { addressIn } from '../fleet/model/address-in.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { OpaqueSource, SourceContent } from '../fleet/model/input.ts'
import type { Tree } from '../git/tree.ts'
import { normaliseUrl } from '../kube/url.ts'

/**
 * The fleet of one tree, nothing but the fleet repository being read: tenants' sources stay opaque. A tag or range of versions of
 * the fleet is taken for what it will be.
 */
export function fleetAt(tree: Tree, url: string, branch: string): Fleet {
  const own = { url: normaliseUrl(url), commit: '', tree }
  const [sources, opaque]: [SourceContent[], OpaqueSource[]] = [[], []]
  // each round can only reveal sources that the fleet repository itself declares, so two rounds are the rule
  for (let round = 0; ; round++) {
    const fleet = buildFleet({ fleet: { ...own, branch }, sources, opaque })
    if (fleet.wanted.length === 0 || round === 20) return fleet
    const home = addressIn(fleet.config.aliases, own.url)
    for (const { url, ref } of fleet.wanted) {
      if (url === home && (ref.tag ?? ref.semver) !== undefined) sources.push({ ...own, url, ref })
      else opaque.push({ url, ref, reason: 'not read for an onboarding' })
    }
  }
}
