import type { ApprovedNode } from '../../src/approval/approve.ts'
import { parseExact } from '../../src/cluster/exact-json.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { Json } from '../../src/kube/node.ts'

/** What is applied of a node. */
interface OpenedObjects {
  readonly objects: readonly Json[]
  /** Those of them that hold what was decrypted, or other values of the cluster: no message may quote it. */
  readonly confidential: ReadonlySet<Json>
}

/**
 * The objects of a node as they are applied: exactly those that were evaluated, in clear. Throws `cluster-invalid` for a node
 * of which something is still encrypted.
 */
export function openObjects({ objects: texts, confidential = [], decryption, unopened }: ApprovedNode): OpenedObjects {
  const seals = decryption?.seals.length ?? 0
  if (unopened !== undefined || seals > 0) {
    throw new BailiwickError('cluster-invalid', unopened ?? 'its encrypted objects were not decrypted and evaluated')
  }
  const objects = texts.map(parseExact)
  return { objects, confidential: new Set(confidential.map(place => objects[place]!)) }
}
