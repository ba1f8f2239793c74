import { randomUUID } from 'node:crypto'
import { BailiwickError } from '../../../src/base/errors.ts'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { clusterError } from '../../../src/cluster/cluster-error.ts'
import { stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'

/** How one request goes wrong: it never arrives, or is done and its answer is lost or late. */
export interface Trouble {
  readonly drop?: boolean
  readonly lose?: boolean
  readonly lateMs?: number | undefined
}

/** One Lease as an API server stores it, with the fences that a real one has (held to it in lease.test.ts). */
export class LeaseWorld {
  stored: { readonly [field: string]: Json } | undefined
  #version = 0

  /** A client of one candidate; `trouble` is asked for each request. */
  client(trouble: () => Trouble = () => ({})): ClusterClient {
    return {
      name: 'staging',
      namespace: 'bailiwick-system',
      discovery: { find: async () => undefined, findAnyVersion: async () => undefined, forget: () => {} },
      stream: async () => {},
      close: () => {},
      request: async (_actor, method, _path, options = {}) => {
        const { drop, lose, lateMs } = trouble()
        const gone = () => new BailiwickError('cluster-unavailable', 'the connection broke')
        if (drop || options.signal?.aborted) throw gone()
        const answer = this.#answer(method, options.body)
        if (lateMs !== undefined) await late(lateMs, options.signal, gone)
        if (lose) throw gone()
        if (answer.status >= 400 && answer.status !== 404) throw clusterError('staging', answer.status, answer.body)
        return answer
      },
    }
  }

  #answer(method: string, body: Json | undefined): { status: number; body: Json } {
    if (method === 'GET') return this.stored ? { status: 200, body: this.stored } : { status: 404, body: {} }
    if (method === 'POST' && this.stored) return { status: 409, body: { message: 'exists' } }
    if (method === 'PUT' && !this.stored) return { status: 404, body: {} }
    const isStale =
      stringAt(body, 'metadata', 'resourceVersion') !== stringAt(this.stored, 'metadata', 'resourceVersion')
    if (method === 'PUT' && isStale) return { status: 409, body: { message: 'changed' } }
    const uid = method === 'POST' ? randomUUID() : stringAt(this.stored, 'metadata', 'uid')
    const { metadata, ...rest } = body as { metadata: { [field: string]: Json } }
    this.stored = { ...rest, metadata: { ...metadata, uid, resourceVersion: String(++this.#version) } }
    return { status: 200, body: this.stored }
  }
}

function late(ms: number, signal: AbortSignal | undefined, gone: () => Error): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(gone())
    })
  })
}
