import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'
import { mergeByIdentity } from '../patch/apply-patches.ts'
import { parseWhole, readPatchFile } from '../patch/load-patch.ts'
import type { Transformer } from './transformer.ts'

const CHANGES = { allowNameChange: false, allowKindChange: false, asTarget: true }

/**
 * `patchesStrategicMerge`: each entry is a patch or the name of a file of patches, which name their objects; one entry
 * may be empty, all of them may not.
 */
export const strategicMergePatches: Transformer = (resources, { kustomization, budget, file }) => {
  const entries = kustomization.patchesStrategicMerge
  const patches = entries.map(entry => {
    const { text, node, origin } = entry
    const inline = /\n|^\s*\{/.test(text)
    const step = { step: 'patch', file: kustomization.file, line: origin.line } as const
    const patch = readPatchFile(inline ? parseWhole(node) : file(entry), step)
    return patch.type === 'json' ? refuse('a patch of patchesStrategicMerge is a list', origin) : patch.objects
  })
  const [first] = entries
  if (first && patches.every(objects => objects.length === 0)) refuse('patchesStrategicMerge is empty', first.origin)
  for (const [index, objects] of patches.entries()) {
    budget.spend('steps', 100 + objects.length, entries[index]!.origin)
    for (const object of objects) mergeByIdentity(resources, object, CHANGES, budget)
  }
}

function refuse(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
