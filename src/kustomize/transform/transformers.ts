import { labels } from './labels.ts'
import { namespace } from './namespace.ts'
import { patches } from './patches.ts'
import { strategicMergePatches } from './strategic-merge-patches.ts'
import type { Transformer } from './transformer.ts'

/** Every builtin that a field of a kustomization asks for, in kustomize's order (kusttarget_configplugin.go, 5.8.1). */
export const TRANSFORMERS: readonly Transformer[] = [strategicMergePatches, patches, namespace, labels]
