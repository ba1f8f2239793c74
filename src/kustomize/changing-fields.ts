import type { Kustomization } from './kustomization.ts'

/** Fields of a kustomization that change what its other entries bring: with another patch, a base gives other objects. */
export const CHANGING_FIELDS = [
  'namespace',
  'namePrefix',
  'nameSuffix',
  'patches',
  'patchesJson6902',
  'patchesStrategicMerge',
  'replacements',
  'transformers',
] as const satisfies readonly (keyof Kustomization)[]
