import type { MapNode, Node } from '../../kube/node.ts'
import type { ParsedFile } from '../../kube/yaml/parse-documents.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { Entry, PatchEntry } from '../model/entry.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import type { TransformerConfig } from './transformer-config.ts'

/** What holds of every field that kustomize knows (api/types/kustomization.go, 5.8.1), built or refused. */
export interface KnownField {
  /** Older names of it; what is written there comes after what is written under its own. */
  readonly olderNames?: readonly string[]
  /** Its type in Go, as `src/flux/root/root-types.ts` writes types. */
  readonly goType: string
  /** What may be an address in it. */
  paths?(value: Node): readonly (Node | undefined)[]
  /** A repository at a commit may be named there: whether it is at hand shows when it is built. */
  readonly mayBePinned?: true
  /** Its entries are objects that configure builtins, or lead to such. */
  readonly holdsBuiltins?: true
  readonly leftOut?: LeftOut
  /** Its row in docs/architecture.md; fields with the same one share it. */
  readonly docs: FieldDocs
}

/** What is not known where a lenient build leaves out an entry; without it: how what the kustomization builds would differ. */
interface LeftOut {
  /** `only`: entries do nothing but add objects; `also`: they add objects, and may change others. */
  readonly objects?: 'only' | 'also'
  /** Entries read or change whatever there is, in the kustomization or in the whole build. */
  readonly reach?: 'kustomization' | 'build'
}

/** In Markdown; absent: nothing is built, or nothing is refused. */
export interface FieldDocs {
  readonly built?: string
  readonly refused?: string
}

/** A field that no build of ours has. */
export interface RefusedField extends KnownField {
  /** Throws for a value that breaks a rule; any other is not supported. */
  forbid?(value: Node): void
}

/** A field that is read; its name is its key in the registry. */
export interface KustomizationField<T> extends KnownField {
  /**
   * `brings`: adds objects; `changes`: makes others of what the other fields bring; `reads`: changes by values that it
   * takes from other objects; `itself`: does nothing to what comes from below.
   */
  readonly effect: 'brings' | 'changes' | 'reads' | 'itself'
  /** Its value, undefined or an empty list where it is absent. Throws what kustomize refuses, and what we do not know. */
  read(root: MapNode, file: string): T
}

/** A field that a builtin transformer serves. */
export interface TransformingField<T> extends KustomizationField<T> {
  /** Does to the objects what the field asks for. A strict build calls it for a field that is absent, too. */
  apply(resources: ResourceList, value: T, context: TransformContext): void
  /** It does the same to each object, so that one of them may be to blame where it fails. */
  readonly toEach?: true
  /** Its list is one entry, of pairs. */
  readonly isOneEntry?: true
}

/** What a transformer knows beside the objects and its field. */
export interface TransformContext {
  /** The file that asks for it, which is named in the steps of values. */
  readonly writtenIn: string
  /** Of the kustomization. */
  readonly directory: string
  readonly config: TransformerConfig
  readonly budget: BuildBudget
  /** The file that an entry of the kustomization names. Throws `kustomize-missing` and what reading it throws. */
  readonly file: (entry: Entry) => ParsedFile
  /** Told how many objects the target of a patch selected. */
  readonly selected: (patch: Pick<PatchEntry, 'origin' | 'target' | 'step'>, count: number) => void
}
