import { applyOperations } from '../patch/apply-patches.ts'
import { parseWhole, readOperations } from '../patch/load-patch.ts'
import { select } from '../select/select.ts'
import type { Transformer } from './transformer.ts'

/** `patchesJson6902`: operations for a target. Unlike those of `patches`, they leave no former name of an object. */
export const jsonPatches: Transformer = (resources, { kustomization, budget, file }) => {
  for (const { origin, patch, path, target, step } of kustomization.patchesJson6902) {
    const operations = readOperations(patch ? parseWhole(patch) : file(path!), step)
    budget.spendOnEach(resources.all, origin)
    applyOperations(select(resources.all, target, budget), operations, origin, budget)
  }
}
