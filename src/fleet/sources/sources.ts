import type { BailiwickError } from '../../errors.ts'
import type { Artifact } from '../../flux/artifact.ts'
import type { PackBudget } from '../../flux/pack-budget.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { IncludedSource, SourceArtifact, UnmatchedSource } from '../model/fleet.ts'
import type { SourceContent } from '../model/input.ts'
import type { SourceRef } from '../model/source-ref.ts'
import type { ReadDecision } from './decide-read.ts'

/** What a source object stands for: content, or why there is none. */
export type Resolved = {
  readonly url: string
  readonly ref: SourceRef
  /** The sources whose content is in this one's artifact, too. */
  readonly includes?: readonly IncludedSource[]
  /** The OCI artifact by which its content comes. */
  readonly artifactOf?: SourceArtifact
  /** What of repositories a generator put where. */
  readonly copies?: readonly { readonly from: string; readonly to: string }[]
  /** Only a tenant's declaration leads there. */
  readonly lent?: true
  /** JSON text of `spec.verify`: Flux checks a signature before it takes the content, and nobody checked it here. */
  readonly verify?: string
  /** Why nothing is known of what it follows, and how that can be said in the fleet's file. */
  readonly unmatched?: UnmatchedSource
  /** Why these files are not all that Flux would put into the artifact: the node that follows it fails. */
  readonly refused?: BailiwickError
} & (
  | (Pick<SourceContent, 'commit' | 'tag' | 'originRevision'> & {
      readonly type: 'content'
      readonly artifact: Artifact
      readonly own: boolean
    })
  | { readonly type: 'opaque'; readonly reason: string }
  /** `asks`: it is not known yet whether it may be read. */
  | { readonly type: 'wanted'; readonly asks?: ReadDecision & { readonly state: 'ask' } }
)

/** Whether a source object may be read for the node that follows it; 'bootstrap': the fleet's own repository. */
export interface MayRead {
  /** Equal for readers that get equal answers. */
  readonly reader: string
  ask(source: KubeObject | 'bootstrap', url: string): ReadDecision
  /** Whether a registry may be asked for it with the operator's credentials. */
  asOperator(source: KubeObject, url: string): boolean
}

/** Finds a source object of the cluster by its id; `bootstrap` for the fleet's own; undefined while there is none. */
export type FindSource = (id: string) => KubeObject | 'bootstrap' | undefined

/** Finds the content of sources in an input; the same content is the same Artifact, so that renderers may cache by it. */
export interface Sources {
  /** The fleet repository itself. */
  readonly own: Resolved & { readonly type: 'content' }
  /** What a repository holds at what a source follows, by the normalized address. */
  at(url: string, ref: SourceRef, read: ReadDecision): Resolved
  /**
   * Undefined while a source that this one includes is not known. Throws `flux-invalid` for a source object that Flux
   * refuses, `render-limits` for more work than `budget` has left; what was composed once is composed. `author`: the
   * tenant who declares it; null: a cluster starts with it.
   */
  resolve(
    kind: string,
    source: KubeObject | 'bootstrap',
    find: FindSource,
    budget: PackBudget,
    may: MayRead,
    author?: string | null,
  ): Resolved | undefined
}
