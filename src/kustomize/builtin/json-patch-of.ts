import { BailiwickError } from '../../errors.ts'
import { at, type MapNode } from '../../kube/node.ts'
import { readJsonPatchEntry } from '../fields/read-patches.ts'
import type { JsonPatchEntry } from '../model/kustomization.ts'

/**
 * What a PatchJson6902Transformer says, as an entry of `patchesJson6902`: its text is called `jsonOp`. Throws as reading
 * such an entry does, and `kustomize-unsupported` without a target, where kustomize panics.
 */
export function jsonPatchOf(config: MapNode): JsonPatchEntry {
  if (at(config, ['target'])?.type !== 'map') {
    const message = 'a PatchJson6902Transformer without a target'
    throw new BailiwickError('kustomize-unsupported', message, { origin: config.origin })
  }
  const fields = [...config.fields].map(([name, field]) => [name === 'jsonOp' ? 'patch' : name, field] as const)
  return readJsonPatchEntry({ ...config, fields: new Map(fields) }, config.origin.file)
}
