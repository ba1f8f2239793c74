import { commonAnnotations } from './annotations.ts'
import { images } from './images.ts'
import { jsonPatches } from './json-patches.ts'
import { labels } from './labels.ts'
import { nameAffixes } from './name-affixes.ts'
import { namespace } from './namespace.ts'
import { patches } from './patches.ts'
import { replacements } from './replacements.ts'
import { replicas } from './replicas.ts'
import { strategicMergePatches } from './strategic-merge-patches.ts'
import type { Transformer } from './transformer.ts'

/** Every builtin that a field of a kustomization asks for, in kustomize's order (kusttarget_configplugin.go, 5.8.1). */
export const TRANSFORMERS: readonly Transformer[] = [
  strategicMergePatches,
  patches,
  namespace,
  nameAffixes,
  labels,
  commonAnnotations,
  jsonPatches,
  replicas,
  images,
  replacements,
]
