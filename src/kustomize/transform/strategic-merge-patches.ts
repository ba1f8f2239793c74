import { BailiwickError } from '../../errors.ts'
import { mergeByIdentity } from '../patch/apply-patches.ts'
import { parseInline, readPatchFile } from '../patch/load-patch.ts'
import type { Transformer } from './transformer.ts'

const CHANGES = { allowNameChange: false, allowKindChange: false, asTarget: true }

/** `patchesStrategicMerge`: each entry is a patch or the name of a file of patches, which name their objects. */
export const strategicMergePatches: Transformer = (resources, { kustomization, budget, file }) => {
  for (const entry of kustomization.patchesStrategicMerge) {
    const { text, node, origin } = entry
    const inline = /\n|^\s*\{/.test(text)
    const step = { step: 'patch', file: kustomization.file, line: origin.line } as const
    const patch = readPatchFile(inline ? parseInline(node) : file(entry), step)
    if (patch.type === 'json' || patch.objects.length === 0) {
      throw new BailiwickError('kustomize-invalid', 'patchesStrategicMerge holds no object', { origin })
    }
    budget.spendOnEach(resources.all, origin)
    for (const object of patch.objects) mergeByIdentity(resources, object, CHANGES, budget)
  }
}
