import { buildFleet } from '../fleet/graph/build-fleet.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { OpaqueSource } from '../fleet/model/input.ts'
import type { Tree } from '../git/tree.ts'
import { normaliseUrl } from '../kube/url.ts'

/** The fleet of one tree, nothing but the fleet repository being read: tenants' sources stay opaque. */
export function fleetAt(tree: Tree, url: string, branch: string): Fleet {
  const opaque: OpaqueSource[] = []
  // each round can only reveal sources that the fleet repository itself declares, so two rounds are the rule
  for (let round = 0; ; round++) {
    const fleet = buildFleet({ fleet: { url: normaliseUrl(url), branch, commit: '', tree }, sources: [], opaque })
    if (fleet.wanted.length === 0 || round === 20) return fleet
    opaque.push(...fleet.wanted.map(wanted => ({ ...wanted, reason: 'not read for an onboarding' })))
  }
}
