import { createHash } from 'node:crypto'
import type { NodeValues } from '../../src/fleet/model/cluster-values.ts'
import type { Json } from '../../src/kube/node.ts'

const MAX_BYTES = 16 * 1024 * 1024

type Opened = Pick<NodeValues, 'files' | 'sealed'>

interface Kept {
  readonly digest: string
  readonly opened: Opened
  readonly bytes: number
}

/**
 * What was decrypted for each node, so that keys are read and services asked only where something encrypted changed. What does
 * not fit is decrypted anew.
 */
export class OpenedMemory {
  readonly #kept = new Map<string, Kept>()
  readonly #limit: number
  #bytes = 0

  constructor(limit: number = MAX_BYTES) {
    this.#limit = limit
  }

  /** What was kept for the node, where it is about the same. */
  get(node: string, what: unknown): Opened | undefined {
    const kept = this.#kept.get(node)
    return kept?.digest === digestOf(what) ? kept.opened : undefined
  }

  keep(node: string, what: unknown, opened: Opened): void {
    this.forget(node)
    const bytes = bytesOf(opened)
    if (this.#bytes + bytes > this.#limit) return
    this.#bytes += bytes
    this.#kept.set(node, { digest: digestOf(what), opened, bytes })
  }

  /** Forgets nodes that are not among these. */
  retain(nodes: ReadonlySet<string>): void {
    for (const node of this.#kept.keys()) if (!nodes.has(node)) this.forget(node)
  }

  /** Its keys may be others now. */
  forget(node: string): void {
    this.#bytes -= this.#kept.get(node)?.bytes ?? 0
    this.#kept.delete(node)
  }
}

const digestOf = (what: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(what as Json))
    .digest('hex')

function bytesOf({ files, sealed }: Opened): number {
  let bytes = 0
  for (const plain of files.values()) bytes += plain.length
  for (const [block, values] of sealed) {
    bytes += block.length
    for (const [id, value] of values) bytes += id.length + (typeof value === 'string' ? value.length : 16)
  }
  return bytes
}
