import type { KubeObject } from '../../kube/object.ts'
import type { Origin } from '../../origin.ts'

/**
 * How it is known that a folder is what a cluster starts from. `sync`: a source and the Kustomization that follows it;
 * `flux-instance`: the `sync` of a FluxInstance; `declared`: the fleet's file or the command line; `layout`: a folder
 * `clusters/<name>`; `assumed`: its Kustomizations follow this repository and nothing else leads to them.
 */
export type RootKind = 'sync' | 'flux-instance' | 'declared' | 'layout' | 'assumed'

/** Another object that starts the same folder with the same content. */
export interface OtherStart {
  readonly file: string
  /** What it says, to tell it from others. */
  readonly text: string
}

/** A folder of the fleet's own repository that a cluster starts from. */
export interface ClusterRoot {
  /** Name of the cluster: unique in its fleet, without a slash. */
  readonly name: string
  /** The folder; '' is the root of the repository. */
  readonly path: string
  readonly how: RootKind
  /** Of a folder of the layout: it holds other folders only. */
  readonly bare?: true
  /** Only what a change is compared with says so: once that is merged, nothing of the cluster is evaluated. */
  readonly former?: true
  /** What else says so, in other words. */
  readonly otherStarts?: readonly OtherStart[]
  /** What says so; absent for a folder of the layout. */
  readonly origin?: Origin
  /** The Kustomization that the cluster starts with, where the repository holds it. */
  readonly kustomization?: KubeObject
  /** The source that this follows, where the repository holds it. */
  readonly source?: KubeObject
  /** The FluxInstance that makes both, as it is written or as its chart makes it. */
  readonly instance?: KubeObject
}
