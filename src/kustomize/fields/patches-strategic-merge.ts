import { BailiwickError } from '../../errors.ts'
import { itemsOf } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import { mergeByIdentity } from '../patch/apply-patches.ts'
import { parseWhole, readPatchFile } from '../patch/load-patch.ts'
import type { TransformingField } from './field.ts'
import type { ConfigEntry } from './generators.ts'
import { textList } from './read-fields.ts'

const CHANGES = { allowNameChange: false, allowKindChange: false, asTarget: true }

/** The oldest way to write a patch: each entry is one, or the name of a file of patches; they name their objects. */
export const patchesStrategicMerge: TransformingField<readonly ConfigEntry[]> = {
  goType: '[string',
  effect: 'changes',
  paths: itemsOf,
  read: root => textList(root, 'patchesStrategicMerge'),
  apply: (resources, entries, { budget, file, writtenIn }) => {
    const patches = entries.map(entry => {
      const { text, node, origin } = entry
      const inline = /\n|^\s*\{/.test(text)
      const step = { step: 'patch', file: writtenIn, line: origin.line } as const
      const patch = readPatchFile(inline ? parseWhole(node) : file(entry), step)
      return patch.type === 'json'
        ? refuse('patchesStrategicMerge: a patch is a list. Expected a map', origin)
        : patch.objects
    })
    const [first] = entries
    // one entry may be empty, all of them may not
    if (first && patches.every(objects => objects.length === 0))
      refuse('patchesStrategicMerge: the list is empty', first.origin)
    for (const [index, objects] of patches.entries()) {
      budget.spend('steps', 100 + objects.length, entries[index]!.origin)
      for (const object of objects) mergeByIdentity(resources, object, CHANGES, budget)
    }
  },
  docs: { built: 'inline or by path' },
}

function refuse(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
