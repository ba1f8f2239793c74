import { idOf } from '../../kube/object.ts'
import type { Claim } from './draft.ts'
import type { Walk } from './walk.ts'

/** Puts a claim where its turn is: the platform's before those of tenants. */
export function enqueue(walk: Walk, claim: Claim): void {
  const own = claim.parent.tenant === undefined
  const place = own ? (idOf(claim.kustomization).namespace === walk.platform ? 0 : 1) : 2
  walk.claims[place].push(claim)
}
