import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { ApprovedNode } from '../../src/approval/approve.ts'

const MAX_BYTES = 32 * 1024 * 1024

/**
 * What the last run was allowed to apply, packed (a tenth of its size), so that drift is put back without an evaluation.
 * What does not fit is put back by a run.
 */
export class KeptNodes {
  readonly #kept = new Map<string, { readonly node: ApprovedNode; readonly objects: Uint8Array }>()
  readonly #limit: number
  #size = 0

  constructor(limit: number = MAX_BYTES) {
    this.#limit = limit
  }

  /** Only these may be applied from now on. */
  replace(nodes: readonly ApprovedNode[]): void {
    const keys = new Set(nodes.map(({ key }) => key))
    for (const key of this.#kept.keys()) if (!keys.has(key)) this.#forget(key)
    for (const node of nodes) {
      const before = this.#kept.get(node.key)
      const same = before?.node.digest === node.digest ? before.objects : undefined
      const objects = same ?? packed(node)
      this.#forget(node.key)
      if (this.#size + objects.length > this.#limit) continue
      this.#size += objects.length
      this.#kept.set(node.key, { node: { ...node, objects: [] }, objects })
    }
  }

  get(key: string): ApprovedNode | undefined {
    const kept = this.#kept.get(key)
    return kept && { ...kept.node, objects: JSON.parse(inflateRawSync(kept.objects).toString()) }
  }

  #forget(key: string): void {
    this.#size -= this.#kept.get(key)?.objects.length ?? 0
    this.#kept.delete(key)
  }
}

/** In memory of its own: what zlib answers lies in a block of 64 KiB beside what is not needed any more, and would keep it. */
function packed({ objects }: ApprovedNode): Uint8Array {
  return new Uint8Array(deflateRawSync(JSON.stringify(objects), { level: 1 }))
}
