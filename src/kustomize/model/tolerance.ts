import type { BailiwickError } from '../../errors.ts'
import type { Hole } from '../../kube/hole.ts'

/** A part of a build that may be taken out where it fails. */
export interface Part {
  readonly effect: Hole['effect']
  /** Text of all that decides what the part would have given. */
  readonly hides: () => string
  /** It would have brought objects, which every level above changes. */
  readonly brings?: true
  /** It reads or writes whatever the whole build brings. */
  readonly spreads?: true
  /** What other parts gave decides, too: it may fail only because one of these was taken out. */
  readonly depends?: true
  /** What the part changes step by step; it is put back where a later step fails. */
  readonly changes?: { readonly save: () => () => void }
}

/** One kustomization on the way from a base to the root: what it does to all that comes from below it. */
export interface Level {
  /** Text of all by which it changes objects from below; '' where it changes nothing. */
  changes(): string
  /** Text of all that the build has read, and of what is done to it here. */
  everything(): string
}

/** What a build does about a part that fails. */
export interface Tolerance {
  /** False: the first failure ends the build. */
  readonly isLenient: boolean
  /** How many parts of one list are worth looking for. */
  readonly enough: number
  /** Whether an error is one of a part, and not of the build as a whole. */
  takesOut(error: unknown): error is BailiwickError
  /** The error of a part with which a step ends; undefined where it does not. Throws what ends the build. */
  failureOf(step: () => void): BailiwickError | undefined
  /** What `step` gives; undefined where it failed and its part was taken out. Throws what ends the build. */
  attempt<T>(part: Part, step: () => T): T | undefined
  /** What `step` gives. What is taken out within it comes from below `level`. */
  within<T>(level: Level, step: () => T): T
}

/** What kustomize and Flux do: whatever fails ends the build. */
export const STRICT: Tolerance = {
  isLenient: false,
  enough: 0,
  takesOut: (_error): _error is BailiwickError => false,
  failureOf: step => {
    step()
    return undefined
  },
  attempt: (_part, step) => step(),
  within: (_level, step) => step(),
}
