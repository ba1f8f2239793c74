import { idOf } from '../../kube/object.ts'
import { nodeKey } from '../model/node-key.ts'
import type { ProvidedBy } from './blocked-claims.ts'
import type { Claim } from './draft.ts'
import { enqueue } from './enqueue.ts'
import { presumedSources } from './presumed-sources.ts'
import { releaseRetained } from './retained-facts.ts'
import type { Walk } from './walk.ts'

/**
 * The next claim; one whose source was not known yet comes back as soon as that appeared, or at the very end. One
 * that waits for values goes on without them when nobody is left who could render them.
 */
export function nextClaim(walk: Walk): Claim | undefined {
  const platform = walk.claims[0].shift() ?? walk.claims[1].shift()
  if (platform) return platform
  const released = walk.waiting.release(walk.index.added())
  if (released.length > 0) {
    for (const claim of released) enqueue(walk, claim)
    return nextClaim(walk)
  }
  if (releaseRetained(walk, 'platform')) return nextClaim(walk)
  if (giveUp(walk, walk.waiting.hasPlatform ? [] : ['platform'])) return nextClaim(walk)
  const tenants = walk.claims[2].shift()
  if (tenants) return tenants
  if (releaseRetained(walk, 'tenants')) return nextClaim(walk)
  if (!walk.index.complete) for (const id of presumedSources(walk)) walk.index.presumed.add(id)
  walk.index.complete = true
  const last = walk.waiting.first()
  if (last) return last
  return giveUp(walk, ['platform', 'anybody']) ? nextClaim(walk) : undefined
}

function giveUp(walk: Walk, sides: readonly ProvidedBy[]): boolean {
  for (const side of sides) {
    const claims = walk.blocked.giveUp(side)
    for (const claim of claims) {
      walk.missed.set(nodeKey(walk.cluster, idOf(claim.kustomization)), new Set())
      enqueue(walk, claim)
    }
    if (claims.length > 0) return true
  }
  return false
}
