import { commonAnnotations } from '../fields/annotations.ts'
import { images } from '../fields/images.ts'
import { jsonPatches } from '../fields/json-patches.ts'
import { labels } from '../fields/labels.ts'
import { nameAffixes } from '../fields/name-affixes.ts'
import { namespace } from '../fields/namespace.ts'
import { patches } from '../fields/patches.ts'
import { replacements } from '../fields/replacements.ts'
import { replicas } from '../fields/replicas.ts'
import { strategicMergePatches } from '../fields/strategic-merge-patches.ts'
import type { Transformer } from '../fields/transformer.ts'
import type { Kustomization } from '../model/kustomization.ts'

const some = (name: string, is: boolean): string[] => (is ? [name] : [])
const each = (name: string, list: readonly unknown[]): string[] => list.map(() => name)

const NAMES: ReadonlyMap<Transformer, (kustomization: Kustomization) => readonly string[]> = new Map([
  [strategicMergePatches, of => some('PatchStrategicMergeTransformer', of.patchesStrategicMerge.length > 0)],
  [patches, of => each('PatchTransformer', of.patches)],
  [namespace, of => some('NamespaceTransformer', !!of.namespace?.text)],
  [
    nameAffixes,
    of => [...some('PrefixTransformer', !!of.namePrefix?.text), ...some('SuffixTransformer', !!of.nameSuffix?.text)],
  ],
  [labels, of => labelTransformers(of)],
  [commonAnnotations, of => some('AnnotationsTransformer', of.commonAnnotations.length > 0)],
  [jsonPatches, of => each('PatchJson6902Transformer', of.patchesJson6902)],
  [replicas, of => each('ReplicaCountTransformer', of.replicas)],
  [images, of => each('ImageTagTransformer', of.images)],
  [replacements, of => some('ReplacementTransformer', of.replacements.length > 0)],
] satisfies [Transformer, (kustomization: Kustomization) => readonly string[]][])

/** Names of the builtins that kustomize runs for what one of our transformers does (kusttarget_configplugin.go, 5.8.1). */
export function transformerNames(transformer: Transformer, kustomization: Kustomization): readonly string[] {
  return NAMES.get(transformer)?.(kustomization) ?? []
}

/** One for each entry of `labels`, and one more for `commonLabels` even where there are none. */
function labelTransformers({ labels: entries, commonLabels }: Kustomization): string[] {
  if (entries.length === 0 && commonLabels.length === 0) return []
  return each('LabelTransformer', [...entries, commonLabels])
}
