import type { MapNode, Node, ScalarNode } from '../../kube/node.ts'
import type { Target } from '../model/entry.ts'
import type { JsonPatchEntry, PatchEntry } from '../model/kustomization.ts'
import { asMap, booleanField, invalid, mapField, refuseOtherFields, scalarText, textField } from './read-fields.ts'

const TARGET_FIELDS = 'group version kind name namespace labelSelector annotationSelector'.split(' ')
const FIELDS = ['patch', 'path', 'target', 'options']

/** One entry of `patches`; the steps of its values name `file`. */
export function readPatch(node: Node, file: string, stepName: 'patch' | 'flux-patch' = 'patch'): PatchEntry {
  const entry = asMap(node, 'patches[]')
  refuseOtherFields(entry, FIELDS, 'a patch')
  const options = readOptions(entry)
  const patch = textNodeField(entry, 'patch')
  const path = textField(entry, 'path')
  const hasPatch = patch !== undefined && patch.value.trim() !== ''
  if (!hasPatch && !path?.text) invalid('a patch needs patch or path', entry.origin)
  if (hasPatch && path?.text) invalid('a patch has patch and path; one of them', entry.origin)
  const target = mapField(entry, 'target')
  return {
    origin: entry.origin,
    ...(hasPatch ? { patch } : { path: path! }),
    ...(target ? { target: readTarget(target) } : {}),
    allowNameChange: options ? booleanField(options, 'allowNameChange') : false,
    allowKindChange: options ? booleanField(options, 'allowKindChange') : false,
    step: { step: stepName, file, line: entry.origin.line },
  }
}

/** One entry of `patchesJson6902`, which needs the name of its target. */
export function readJsonPatchEntry(node: Node, file: string): JsonPatchEntry {
  const entry = asMap(node, 'patchesJson6902[]')
  refuseOtherFields(entry, FIELDS, 'patchesJson6902')
  readOptions(entry)
  const patch = textNodeField(entry, 'patch')
  const path = textField(entry, 'path')
  const target = mapField(entry, 'target')
  const step = { step: 'patch', file, line: entry.origin.line } as const
  const selected = target && readTarget(target)
  if (!selected?.name) return invalid('a patch of patchesJson6902 needs the name of its target', entry.origin)
  if (!patch?.value === !path?.text) return invalid('a JSON6902 patch needs one of patch and path', entry.origin)
  return { origin: entry.origin, ...(patch?.value ? { patch } : { path: path! }), target: selected, step }
}

function readOptions(entry: MapNode): MapNode | undefined {
  const options = mapField(entry, 'options')
  if (options) refuseOtherFields(options, ['allowNameChange', 'allowKindChange'], 'options of a patch')
  return options
}

function textNodeField(entry: MapNode, name: string): (ScalarNode & { value: string }) | undefined {
  const node = entry.fields.get(name)?.value
  return node === undefined || (node.type === 'scalar' && node.value === null) ? undefined : scalarText(node, name)
}

function readTarget(target: MapNode): Target {
  refuseOtherFields(target, TARGET_FIELDS, 'target of a patch')
  const parts = TARGET_FIELDS.map(name => [name, textField(target, name)] as const)
  return Object.fromEntries(parts.filter(([, entry]) => entry?.text)) as Target
}
