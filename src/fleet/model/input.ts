import type { Tree } from '../../git/tree.ts'
import type { ClusterValues } from './cluster-values.ts'
import type { DeclaredCluster } from './fleet-config.ts'
import type { ReadAccess } from './read-access.ts'
import type { Retain } from './retain.ts'
import type { SourceRef } from './source-ref.ts'

/** The content that a repository has at a ref, read by someone outside the core. */
export interface SourceContent {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly ref: SourceRef
  /** 40 hex digits, or the digest of an artifact (`sha256:...`); '' for a working copy. */
  readonly commit: string
  /** The tag that a range of versions stands for. */
  readonly tag?: string
  /** Of an artifact: the revision that it was built from, as it says itself. Shown only. */
  readonly originRevision?: string
  readonly tree: Tree
}

/** A source that nobody could read, and why: evaluated by identity, listed in notSeen. */
export interface OpaqueSource {
  readonly url: string
  readonly ref: SourceRef
  readonly reason: string
}

/** Reason of an opaque source whose address belongs to another repository by now than the one that is pinned for a tenant. */
export const ANOTHER_REPOSITORY = 'its address is now another repository than the pinned one'

/** Everything that a verdict on one input depends on. */
export interface FleetInput {
  /** The fleet repository at one commit; its url and branch are how Flux sources name it. */
  readonly fleet: {
    readonly url: string
    readonly branch: string
    readonly commit: string
    readonly tree: Tree
    /** Another address of this repository, which the caller knows: clusters may follow either. */
    readonly alias?: string
    /** Clusters that the caller names. */
    readonly clusters?: readonly DeclaredCluster[]
  }
  readonly sources: readonly SourceContent[]
  readonly opaque: readonly OpaqueSource[]
  /**
   * Where the fleet's own file is read from instead of `fleet`: the tree that a change is compared with, so that a change
   * is never evaluated by values that it declares itself.
   */
  readonly config?: Tree
  /** Only the cluster of this name is built, where a root has it; for someone who looks at one, never for a verdict. */
  readonly only?: string
  /** What was read on clusters, for whoever applies; absent: nothing is known of it. */
  readonly values?: ClusterValues
  /** Rules that the operator of this process switched off (tests and emergencies); default none. */
  readonly disabledRules?: readonly string[]
  /** Hosts of registries that the operator lets this process ask for artifacts; default none. */
  readonly registries?: readonly string[]
  /** By what it is decided what may be read for whom; absent: whoever gives the input reads all of it anyway. */
  readonly access?: ReadAccess
  /** What the fleet was before: facts that stay where a node does not build as a whole; absent: nothing is known of it. */
  readonly retain?: Retain
}
