import type { BrokenSeal, FleetNode } from '../fleet/model/fleet.ts'
import type { SourceRef } from '../fleet/model/source-ref.ts'
import type { Tree } from '../git/tree.ts'

/** A repository that the fleet reads, at what its source follows. */
export interface EvaluatedRepository {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly ref: SourceRef
  readonly tree: Tree
  /** The same before the change; undefined without a comparison, or where it was not read before. */
  readonly before?: Tree
  /** Nodes that read it, parents first; the first one carries what is found in it. */
  readonly nodes: readonly FleetNode[]
  readonly isFleet: boolean
  /** Encrypted files whose MAC does not hold, as far as someone had the key and looked. */
  readonly brokenSeals?: readonly Pick<BrokenSeal, 'file' | 'why'>[]
}
