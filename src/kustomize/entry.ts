import type { BailiwickError } from '../base/errors.ts'
import type { Origin, Step } from '../base/origin.ts'
import type { ScalarNode } from '../kube/node.ts'
import type { Hole } from '../kube/object.ts'

/** A text in a kustomization.yaml and its place. */
export interface Entry {
  readonly text: string
  readonly origin: Origin
}

/** Which objects a patch is for: regular expressions that must match the whole text; absent parts match everything. */
export interface Target {
  readonly group?: Entry
  readonly version?: Entry
  readonly kind?: Entry
  readonly name?: Entry
  readonly namespace?: Entry
  readonly labelSelector?: Entry
  readonly annotationSelector?: Entry
}

/** One entry of `patches`: text or a file, for a target or for the objects that the patch itself names. */
export interface PatchEntry {
  readonly origin: Origin
  readonly patch?: ScalarNode
  readonly path?: Entry
  readonly target?: Target
  readonly allowNameChange: boolean
  readonly allowKindChange: boolean
  /** Through what values of the patch come into an object. */
  readonly step: Step
}

export interface GeneratorOptions {
  readonly labels: readonly (readonly [string, Entry])[]
  readonly annotations: readonly (readonly [string, Entry])[]
  readonly disableNameSuffixHash: boolean
  readonly immutable?: Entry
}

/** One entry of `configMapGenerator` or `secretGenerator`, or of a generator object of `generators`. */
export interface GeneratorEntry {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly origin: Origin
  readonly name: Entry
  readonly namespace?: Entry
  readonly behavior: 'create' | 'merge' | 'replace' | 'unspecified'
  readonly literals: readonly Entry[]
  /** `path` or `key=path`. */
  readonly files: readonly Entry[]
  /** Paths of files of `key=value` lines. */
  readonly envs: readonly Entry[]
  /** Of a Secret; absent: Opaque. */
  readonly type?: Entry
  readonly options: GeneratorOptions
}

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

/**
 * Those of `parts` with which `fails` says yes, even alone. Asks about halves, so that few among many cost little; what
 * fails only together is the fault of no single part. Ends where `enough` have been found.
 */
export function failingParts<T>(
  parts: readonly T[],
  fails: (parts: readonly T[]) => boolean,
  enough = Number.POSITIVE_INFINITY,
): T[] {
  const found: T[] = []
  const visit = (some: readonly T[]): void => {
    if (some.length === 0 || found.length >= enough || !fails(some)) return
    if (some.length === 1) found.push(some[0]!)
    else {
      const middle = some.length >> 1
      visit(some.slice(0, middle))
      visit(some.slice(middle))
    }
  }
  visit(parts)
  return found
}
