import { BailiwickError } from '../../base/errors.ts'
import type { Origin, Step } from '../../base/origin.ts'
import { itemsOf, type MapNode, type Node, type ScalarNode } from '../../kube/node.ts'
import type { Entry, PatchEntry, Target } from '../entry.ts'
import {
  applyOperations,
  applyPatch,
  mergeByIdentity,
  parseInline,
  parseWhole,
  readOperations,
  readPatchFile,
} from '../patch/apply-patches.ts'
import { select } from '../select/select.ts'
import {
  asMap,
  booleanField,
  invalid,
  listField,
  mapField,
  pathOfEach,
  refuseOtherFields,
  scalarText,
  type TransformingField,
  textField,
  textList,
} from './field.ts'
import type { ConfigEntry } from './generators.ts'

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
const PATCH_FIELDS = ['patch', 'path', 'target', 'options']

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
function readPatchOptions(entry: MapNode): MapNode | undefined {
  const options = mapField(entry, 'options')
  if (options) refuseOtherFields(options, ['allowNameChange', 'allowKindChange'], 'options of a patch')
  return options
}

/** A text of an entry, as the node it is. */
function textNodeField(entry: MapNode, name: string): (ScalarNode & { value: string }) | undefined {
  const node = entry.fields.get(name)?.value
  return node === undefined || (node.type === 'scalar' && node.value === null) ? undefined : scalarText(node, name)
}

/** The `target` of an entry. */
function readTarget(target: MapNode): Target {
  refuseOtherFields(target, TARGET_FIELDS, 'target of a patch')
  const parts = TARGET_FIELDS.map(name => [name, textField(target, name)] as const)
  return Object.fromEntries(parts.filter(([, entry]) => entry?.text)) as Target
}

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
