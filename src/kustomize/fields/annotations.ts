import { setPairs } from './set-pairs.ts'
import type { Transformer } from './transformer.ts'

/** `commonAnnotations`: of the objects and of their templates. */
export const commonAnnotations: Transformer = (resources, { kustomization, config, budget }) => {
  setPairs(resources, kustomization.commonAnnotations, config.commonAnnotations, budget)
}
