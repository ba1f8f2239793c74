import type { Origin } from '../../origin.ts'

/** A text in a kustomization.yaml and where it stands. */
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
