import type { Tree } from '../git/tree.ts'

/** What a Flux source gives to a Kustomization: a git tree of which source-controller packs what is not ignored. */
export interface Artifact {
  /** Normalised address of the repository; goes into every origin. */
  readonly repository: string
  readonly tree: Tree
  /** `spec.ignore` of the source; absent: none. */
  readonly ignore?: string
  /** Directory of the tree that is the root of the artifact; absent: the root of the tree. Nothing else is in the tree. */
  readonly root?: string
  /** The tree is not that of the repository itself: a part of it, or with others in it. */
  readonly composed?: true
}
