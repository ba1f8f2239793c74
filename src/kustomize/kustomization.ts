import type { ScalarNode } from '../kube/node.ts'
import type { Origin, Step } from '../kube/origin.ts'

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

export interface LabelEntry {
  readonly pairs: readonly (readonly [string, Entry])[]
  readonly includeSelectors: boolean
  readonly includeTemplates: boolean
}

export interface GeneratorOptions {
  readonly labels: readonly (readonly [string, Entry])[]
  readonly annotations: readonly (readonly [string, Entry])[]
  readonly disableNameSuffixHash: boolean
  readonly immutable?: Entry
}

export interface ConfigMapEntry {
  readonly origin: Origin
  readonly name: Entry
  readonly namespace?: Entry
  readonly behavior: 'create' | 'merge' | 'replace' | 'unspecified'
  readonly literals: readonly Entry[]
  readonly options: GeneratorOptions
}

/** A kustomization.yaml with everything in it that we support; what we do not was refused when it was read. */
export interface Kustomization {
  /** Path of the file; for one that Flux generates, the directory with `kustomization.yaml`. */
  readonly file: string
  readonly directory: string
  readonly kind: 'Kustomization' | 'Component'
  readonly resources: readonly Entry[]
  readonly components: readonly Entry[]
  readonly namespace?: Entry
  readonly patches: readonly PatchEntry[]
  /** Texts or file names; the oldest way to write a patch. */
  readonly patchesStrategicMerge: readonly (Entry & { readonly node: ScalarNode })[]
  readonly labels: readonly LabelEntry[]
  readonly configMapGenerator: readonly ConfigMapEntry[]
  /** Nobody wrote it: Flux generates one for a directory that has none. Its entries leave no trail. */
  readonly generated?: true
}
