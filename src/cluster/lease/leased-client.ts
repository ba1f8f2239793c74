import type { ClusterClient } from '../client.ts'
import type { HeldLease } from './acquire-lease.ts'

/**
 * The same client for whoever holds the Lease: each write is sent only while it is held, ends on the server before another
 * candidate may begin, and is given up when the Lease is lost. Reads go through as they are.
 */
export function leasedClient(client: ClusterClient, lease: Pick<HeldLease, 'signal' | 'writeWithin'>): ClusterClient {
  // once for each signal: those that are combined for each request outlive it
  const combined = new WeakMap<AbortSignal, AbortSignal>()
  const until = (signal: AbortSignal | undefined): AbortSignal => {
    if (!signal) return lease.signal
    const known = combined.get(signal) ?? AbortSignal.any([signal, lease.signal])
    combined.set(signal, known)
    return known
  }
  return {
    ...client,
    over: other => leasedClient(other, lease),
    request: async (actor, method, path, options = {}) => {
      if (method === 'GET') return client.request(actor, method, path, options)
      lease.writeWithin()
      const within = () => Math.min(lease.writeWithin(), options.within?.() ?? Number.POSITIVE_INFINITY)
      try {
        return await client.request(actor, method, path, { ...options, signal: until(options.signal), within })
      } catch (error) {
        // whatever became of this one: nothing else of this run may follow
        lease.signal.throwIfAborted()
        throw error
      }
    },
  }
}
