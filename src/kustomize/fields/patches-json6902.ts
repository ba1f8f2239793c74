import type { Node, ScalarNode } from '../../kube/node.ts'
import type { Origin, Step } from '../../origin.ts'
import type { Entry, Target } from '../model/entry.ts'
import { applyOperations } from '../patch/apply-patches.ts'
import { parseWhole, readOperations } from '../patch/load-patch.ts'
import { select } from '../select/select.ts'
import type { TransformingField } from './field.ts'
import { PATCH_FIELDS, readPatchOptions, readTarget, textNodeField } from './patches.ts'
import { pathOfEach } from './paths-in.ts'
import { asMap, invalid, listField, mapField, refuseOtherFields, textField } from './read-fields.ts'

/** One entry of `patchesJson6902`: operations, as text or in a file, for a target with a name. */
export interface JsonPatchEntry {
  readonly origin: Origin
  readonly patch?: ScalarNode
  readonly path?: Entry
  readonly target: Target
  readonly step: Step
}

/** Unlike the operations of `patches`, these leave no former name of an object. */
export const patchesJson6902: TransformingField<readonly JsonPatchEntry[]> = {
  goType: '[Patch',
  effect: 'changes',
  paths: pathOfEach,
  read: (root, file) => listField(root, 'patchesJson6902').map(node => readJsonPatchEntry(node, file)),
  apply: (resources, entries, { budget, file, selected }) => {
    for (const entry of entries) {
      const { origin, patch, path, target, step } = entry
      const operations = readOperations(patch ? parseWhole(patch) : file(path!), step)
      budget.spendOnEach(resources.all, origin)
      const targets = select(resources.all, target, budget)
      applyOperations(targets, operations, origin, budget)
      selected(entry, targets.length)
    }
  },
  docs: { built: 'inline or by `path`, for a target with a name', refused: 'as `patches`' },
}

/** One entry of `patchesJson6902`, which needs the name of its target. */
export function readJsonPatchEntry(node: Node, file: string): JsonPatchEntry {
  const entry = asMap(node, 'patchesJson6902[]')
  refuseOtherFields(entry, PATCH_FIELDS, 'patchesJson6902')
  readPatchOptions(entry)
  const patch = textNodeField(entry, 'patch')
  const path = textField(entry, 'path')
  const target = mapField(entry, 'target')
  const step = { step: 'patch', file, line: entry.origin.line } as const
  const selected = target && readTarget(target)
  if (!selected?.name) return invalid('patchesJson6902: target.name is missing', entry.origin)
  if (!patch?.value === !path?.text) return invalid('patchesJson6902: set either patch or path', entry.origin)
  return { origin: entry.origin, ...(patch?.value ? { patch } : { path: path! }), target: selected, step }
}
