import type { Origin, Step } from '../../origin.ts'
import type { Entry, Target } from './entry.ts'

/** How a part of a value is taken or put (api/types/replacement.go, FieldOptions). */
export interface FieldOptions {
  readonly delimiter: string
  readonly index: number
  readonly create: boolean
}

/** The one object and field that a value is copied from; absent parts match everything. */
export interface ReplacementSource {
  readonly origin: Origin
  readonly group?: Entry
  readonly version?: Entry
  readonly kind?: Entry
  readonly name?: Entry
  readonly namespace?: Entry
  readonly fieldPath: Entry
  readonly options: FieldOptions
}

/** Objects and fields that a value is copied to. */
export interface ReplacementTarget {
  readonly origin: Origin
  readonly select: Target
  readonly reject: readonly Target[]
  readonly fieldPaths: readonly Entry[]
  readonly options: FieldOptions
}

/** A value of one object that goes to others; `from` is that place or the value itself. */
export interface Replacement {
  readonly origin: Origin
  /** Through what the value comes to a target. */
  readonly step: Step
  readonly from: ReplacementSource | { readonly value: Entry }
  readonly targets: readonly ReplacementTarget[]
}

/** One entry of `replacements`: a replacement, or a file that holds one or a list of them. */
export type ReplacementEntry = Replacement | { readonly path: Entry; readonly step: Step }
