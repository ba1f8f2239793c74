import { setReplicas } from './set-replicas.ts'
import type { Transformer } from './transformer.ts'

/** The field `replicas`. */
export const replicas: Transformer = (resources, { kustomization, config, budget }) => {
  for (const entry of kustomization.replicas) setReplicas(resources, entry, config.replicas, budget)
}
