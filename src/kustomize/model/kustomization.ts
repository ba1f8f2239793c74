import type { ScalarNode } from '../../kube/node.ts'
import type { Unseen } from '../../kube/object.ts'
import type { Origin, Step } from '../../origin.ts'
import type { Entry, Target } from './entry.ts'
import type { ReplacementEntry } from './replacement.ts'

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

/** Labels or annotations. */
export type Pairs = readonly (readonly [string, Entry])[]

/** One entry of `patchesJson6902`: operations, as text or in a file, for a target with a name. */
export interface JsonPatchEntry {
  readonly origin: Origin
  readonly patch?: ScalarNode
  readonly path?: Entry
  readonly target: Target
  readonly step: Step
}

/** A place that a transformer writes to, for kinds of objects; absent parts match everything. */
export interface FieldSpec {
  readonly path: string
  readonly kind?: string
  readonly group?: string
  readonly version?: string
  /** Make the maps and the field on the way when they are missing. */
  readonly create?: boolean
}

/** The field `sortOptions`; of a base it counts for nothing. */
export interface SortOptions {
  readonly origin: Origin
  readonly order?: Entry
  /** Kinds that come first and last, in place of kustomize's own. */
  readonly legacy?: { readonly first: readonly Entry[]; readonly last: readonly Entry[] }
}

/** One entry of `labels`. */
export interface LabelEntry {
  readonly origin: Origin
  readonly pairs: Pairs
  readonly includeSelectors: boolean
  readonly includeTemplates: boolean
  /** Where else they go. */
  readonly fields: readonly FieldSpec[]
}

/** One entry of `images`: what images of that name become. */
export interface ImageEntry {
  readonly origin: Origin
  /** A regular expression, because kustomize does not escape it. */
  readonly name?: Entry
  readonly newName?: Entry
  readonly newTag?: Entry
  readonly digest?: Entry
  readonly tagSuffix?: Entry
}

/** One entry of `replicas`. */
export interface ReplicaEntry {
  readonly origin: Origin
  readonly name: string
  readonly count: number | bigint
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

/** An entry that is a path, or objects written out. */
export type ConfigEntry = Entry & { readonly node: ScalarNode }

/** A kustomization.yaml with everything in it that we support; what we do not was refused when it was read. */
export interface Kustomization {
  /** Path of the file; for one that Flux generates, the directory with `kustomization.yaml`. */
  readonly file: string
  readonly directory: string
  /** Characters of the file that people do not see, where it was read elsewhere. */
  readonly unseen?: readonly Unseen[]
  readonly kind: 'Kustomization' | 'Component'
  readonly resources: readonly Entry[]
  readonly components: readonly Entry[]
  /** Files that add to the fields which transformers write to. */
  readonly configurations: readonly Entry[]
  readonly namespace?: Entry
  readonly namePrefix?: Entry
  readonly nameSuffix?: Entry
  readonly patches: readonly PatchEntry[]
  readonly patchesJson6902: readonly JsonPatchEntry[]
  /** Texts or file names; the oldest way to write a patch. */
  readonly patchesStrategicMerge: readonly (Entry & { readonly node: ScalarNode })[]
  readonly labels: readonly LabelEntry[]
  readonly commonLabels: Pairs
  readonly commonAnnotations: Pairs
  readonly replicas: readonly ReplicaEntry[]
  readonly images: readonly ImageEntry[]
  readonly replacements: readonly ReplacementEntry[]
  readonly configMapGenerator: readonly GeneratorEntry[]
  readonly secretGenerator: readonly GeneratorEntry[]
  /** The order of the objects; counts in the root only. */
  readonly sortOptions?: SortOptions
  /** What is noted in the objects (`originAnnotations` and others); counts in the root only, also without objects. */
  readonly buildMetadata: readonly Entry[]
  /** Objects that configure builtins, or where such objects are. */
  readonly generators: readonly ConfigEntry[]
  readonly transformers: readonly ConfigEntry[]
  /** Nobody wrote it: Flux generates one for a directory that has none. Its entries leave no trail. */
  readonly generated?: true
}
