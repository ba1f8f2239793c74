import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../kube/node.ts'
import { itemsAt, mapAt } from './json-at.ts'

/**
 * Whether an apply would change the live object, by what its dry run gave: any field but status and what the API server
 * keeps in metadata. As Flux's hasDrifted (fluxcd/pkg ssa/manager_diff.go), which leaves out finalizers and owners.
 */
export function hasDrifted(live: Json, dryRun: Json): boolean {
  return !isDeepStrictEqual(compared(live), compared(dryRun))
}

/** Without labels is the same as with no label. */
function compared(object: Json): Json {
  const { metadata: _metadata, status: _status, ...content } = mapAt(object)
  return {
    labels: { ...mapAt(object, 'metadata', 'labels') },
    annotations: { ...mapAt(object, 'metadata', 'annotations') },
    finalizers: [...itemsAt(object, 'metadata', 'finalizers')],
    ownerReferences: [...itemsAt(object, 'metadata', 'ownerReferences')],
    content,
  }
}
