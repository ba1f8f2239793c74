import { BailiwickError } from '../../errors.ts'
import { at, type MapNode } from '../../kube/node.ts'
import { applyPatch } from '../patch/apply-patches.ts'
import { parseInline, readPatchFile } from '../patch/load-patch.ts'
import { invalid, textField } from '../read/read-fields.ts'
import { readPatch } from '../read/read-kustomization.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import type { TransformContext } from '../transform/transformer.ts'

/** PatchJson6902Transformer: a patch of operations in `jsonOp` or in a file, for a target that must have a name. */
export function runJsonPatch(config: MapNode, resources: ResourceList, { budget, file }: TransformContext): void {
  const target = at(config, ['target'])
  if (target?.type !== 'map') {
    const message = 'a PatchJson6902Transformer without a target'
    throw new BailiwickError('kustomize-unsupported', message, { origin: config.origin })
  }
  if (!textField(target, 'name')?.text) invalid('the target of a PatchJson6902Transformer needs a name', target.origin)
  const fields = [...config.fields].map(([name, field]) => [name === 'jsonOp' ? 'patch' : name, field] as const)
  const entry = readPatch({ ...config, fields: new Map(fields) }, config.origin.file)
  const patch = readPatchFile(entry.patch ? parseInline(entry.patch) : file(entry.path!), entry.step)
  if (patch.type === 'json' && patch.operations.length > 0) applyPatch(resources, entry, patch, budget)
  else invalid('a PatchJson6902Transformer needs a list of operations', config.origin)
}
