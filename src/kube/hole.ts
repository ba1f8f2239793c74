import type { BailiwickError } from '../errors.ts'

/** A part of a build that was taken out, so that the rest could be built and evaluated. */
export interface Hole {
  /** Why: code, message, place and fix. */
  readonly error: BailiwickError
  /** True: kustomize or Flux refuses the whole build for it, so the cluster keeps its previous revision. False: only we cannot. */
  readonly fatal: boolean
  /**
   * `missing`: objects may be absent, and references to them may be as they were written. `different`: objects that are
   * there may have other fields on the cluster, and others may be absent, too.
   */
  readonly effect: 'missing' | 'different'
  /** Digest of all bytes that it hides. Two holes with the same cause and the same digest hide the same. */
  readonly hides: string
  /** The address, where what is missing lies in no repository that was given. */
  readonly remote?: string
}
