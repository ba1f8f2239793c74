import type { ParsedFile } from '../../kube/yaml/parse-documents.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { Entry } from '../model/entry.ts'
import type { Kustomization } from '../model/kustomization.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import type { TransformerConfig } from './transformer-config.ts'

/** What a transformer knows beside the objects: the kustomization that asks for it, and the files beside that. */
export interface TransformContext {
  readonly kustomization: Kustomization
  readonly config: TransformerConfig
  readonly budget: BuildBudget
  /** The file that an entry of the kustomization names. Throws `kustomize-missing` and what reading it throws. */
  readonly file: (entry: Entry) => ParsedFile
}

/** One builtin transformer: does to the objects what the fields of the kustomization ask it to do. */
export type Transformer = (resources: ResourceList, context: TransformContext) => void
