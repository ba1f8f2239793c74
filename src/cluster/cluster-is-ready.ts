import { BailiwickError } from '../errors.ts'
import type { ClusterClient } from './client.ts'

const PROBE_MS = 5_000
const KEPT_MS = 1_000

const probes = new WeakMap<ClusterClient, { readonly ready: Promise<boolean>; readonly until: () => number }>()

/**
 * Whether the API server as a whole works: `/readyz`, asked as the worker. For all who ask at the same time and within a
 * second after the answer it is asked once. No answer within 5 s is a no.
 */
export function clusterIsReady(client: ClusterClient): Promise<boolean> {
  const last = probes.get(client)
  if (last && Date.now() < last.until()) return last.ready
  let until = Number.POSITIVE_INFINITY
  const ready = probe(client).finally(() => {
    until = Date.now() + KEPT_MS
  })
  probes.set(client, { ready, until: () => until })
  return ready
}

async function probe(client: ClusterClient): Promise<boolean> {
  const options = { accept: 'text/plain', ahead: true, signal: AbortSignal.timeout(PROBE_MS) }
  try {
    return (await client.request('worker', 'GET', '/readyz', options)).status === 200
  } catch (error) {
    if (error instanceof BailiwickError) return false
    throw error
  }
}
