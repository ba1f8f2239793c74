import type { Kustomization } from './kustomization.ts'

/** A kustomization that asks for nothing, to which a caller adds what is to be done. */
export const EMPTY_KUSTOMIZATION: Omit<Kustomization, 'file' | 'directory' | 'kind'> = {
  resources: [],
  components: [],
  configurations: [],
  patches: [],
  patchesJson6902: [],
  patchesStrategicMerge: [],
  labels: [],
  commonLabels: [],
  commonAnnotations: [],
  replicas: [],
  images: [],
  replacements: [],
  buildMetadata: [],
  configMapGenerator: [],
  secretGenerator: [],
  generators: [],
  transformers: [],
}
