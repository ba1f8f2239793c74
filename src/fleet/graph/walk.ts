import type { Retain } from '../model/retain.ts'
import type { BlockedClaims } from './blocked-claims.ts'
import type { Claim, Draft } from './draft.ts'
import type { NodeContext } from './node-context.ts'
import type { RemoteClusters } from './remote-clusters.ts'
import type { UnownedObjects } from './unowned-objects.ts'
import type { WaitingClaims } from './waiting-claims.ts'

/** One cluster as it is known so far. */
export interface Walk extends NodeContext {
  /** The namespace of Flux on this cluster. */
  readonly platform: string
  /** Who owns a Capsule Tenant. */
  readonly capsule: Set<string>
  readonly drafts: Map<string, Draft>
  /** Claims of the root's namespace, of other platform nodes, of tenants: worked off in this order. */
  readonly claims: readonly [Claim[], Claim[], Claim[]]
  readonly counts: Map<string, number>
  readonly blocked: BlockedClaims
  readonly waiting: WaitingClaims
  readonly unowned: UnownedObjects
  readonly remotes: RemoteClusters
  /** Keys of Kustomizations that are rendered now. */
  readonly claimed: Set<string>
  /** Nodes that did not build as a whole, until what their last complete builds say is taken note of. */
  readonly incomplete: { readonly platform: Draft[]; readonly tenants: Draft[] }
  readonly retain: Retain | undefined
  /** How many objects ResourceSets may still make. */
  readonly sets: { left: number }
}
