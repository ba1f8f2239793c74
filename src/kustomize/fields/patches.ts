import { applyPatch } from '../patch/apply-patches.ts'
import { parseInline, readPatchFile } from '../patch/load-patch.ts'
import type { Transformer } from './transformer.ts'

/** `patches`: strategic merge or JSON6902, for a target or for the objects that the patch names. */
export const patches: Transformer = (resources, { kustomization, budget, file }) => {
  for (const entry of kustomization.patches) {
    if (entry.target) budget.spendOnEach(resources.all, entry.origin)
    else budget.spend('steps', 100, entry.origin)
    const parsed = entry.patch ? parseInline(entry.patch) : file(entry.path!)
    applyPatch(resources, entry, readPatchFile(parsed, entry.step), budget)
  }
}
