import type { ScalarNode } from '../../kube/node.ts'
import type { Origin, Step } from '../../origin.ts'

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

export interface GeneratorOptions {
  readonly labels: readonly (readonly [string, Entry])[]
  readonly annotations: readonly (readonly [string, Entry])[]
  readonly disableNameSuffixHash: boolean
  readonly immutable?: Entry
}

/** One entry of `configMapGenerator` or `secretGenerator`, or what a generator object of `generators` says. */
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
