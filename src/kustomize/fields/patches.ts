import type { MapNode, Node, ScalarNode } from '../../kube/node.ts'
import type { PatchEntry, Target } from '../model/entry.ts'
import { applyPatch } from '../patch/apply-patches.ts'
import { parseInline, readPatchFile } from '../patch/load-patch.ts'
import type { TransformingField } from './field.ts'
import { pathOfEach } from './paths-in.ts'
import {
  asMap,
  booleanField,
  invalid,
  listField,
  mapField,
  refuseOtherFields,
  scalarText,
  textField,
} from './read-fields.ts'

export const patches: TransformingField<readonly PatchEntry[]> = {
  goType: '[Patch',
  effect: 'changes',
  paths: pathOfEach,
  read: (root, file) => listField(root, 'patches').map(node => readPatch(node, file)),
  apply: (resources, entries, { budget, file, selected }) => {
    for (const entry of entries) {
      if (entry.target) budget.spendOnEach(resources.all, entry.origin)
      else budget.spend('steps', 100, entry.origin)
      const parsed = entry.patch ? parseInline(entry.patch) : file(entry.path!)
      selected(entry, applyPatch(resources, entry, readPatchFile(parsed, entry.step), budget))
    }
  },
  docs: {
    built: 'strategic merge and JSON6902, inline or by `path`, with `target` (all its fields) and `options`',
    refused:
      'a regular expression of a target with a Unicode class beyond the common categories, or with more than 2,100 parts; ' +
      "operations that copy all annotations of an object, with kustomize's internal ones; a `test` in JSON whose value can be " +
      'more than one spelling; an identity that is not a string',
  },
}

const TARGET_FIELDS = 'group version kind name namespace labelSelector annotationSelector'.split(' ')
/** Of an entry of `patches` or `patchesJson6902`. */
export const PATCH_FIELDS = ['patch', 'path', 'target', 'options']

/** One entry of `patches`; the steps of its values name `file`. */
export function readPatch(node: Node, file: string): PatchEntry {
  const entry = asMap(node, 'patches[]')
  refuseOtherFields(entry, PATCH_FIELDS, 'a patch')
  const options = readPatchOptions(entry)
  const patch = textNodeField(entry, 'patch')
  const path = textField(entry, 'path')
  const hasPatch = patch !== undefined && patch.value.trim() !== ''
  if (!hasPatch && !path?.text) invalid('patches: an entry has neither patch nor path', entry.origin)
  if (hasPatch && path?.text) invalid('patches: an entry has both patch and path. Allowed: one of them', entry.origin)
  const target = mapField(entry, 'target')
  return {
    origin: entry.origin,
    ...(hasPatch ? { patch } : { path: path! }),
    ...(target ? { target: readTarget(target) } : {}),
    allowNameChange: options ? booleanField(options, 'allowNameChange') : false,
    allowKindChange: options ? booleanField(options, 'allowKindChange') : false,
    step: { step: 'patch', file, line: entry.origin.line },
  }
}

/** The `options` of an entry. */
export function readPatchOptions(entry: MapNode): MapNode | undefined {
  const options = mapField(entry, 'options')
  if (options) refuseOtherFields(options, ['allowNameChange', 'allowKindChange'], 'options of a patch')
  return options
}

/** A text of an entry, as the node it is. */
export function textNodeField(entry: MapNode, name: string): (ScalarNode & { value: string }) | undefined {
  const node = entry.fields.get(name)?.value
  return node === undefined || (node.type === 'scalar' && node.value === null) ? undefined : scalarText(node, name)
}

/** The `target` of an entry. */
export function readTarget(target: MapNode): Target {
  refuseOtherFields(target, TARGET_FIELDS, 'target of a patch')
  const parts = TARGET_FIELDS.map(name => [name, textField(target, name)] as const)
  return Object.fromEntries(parts.filter(([, entry]) => entry?.text)) as Target
}
