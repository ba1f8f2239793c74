import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterClient } from './client.ts'
import { type InventoryEntry, idOfEntry } from './inventory-entry.ts'
import type { PruneResult } from './prune-objects.ts'
import { readLive } from './read-live.ts'

/** How long one run waits: what takes longer stays in the inventory, and the next run looks again. */
const PATIENCE_MS = 10_000
const POLL_MS = 500

/** Waits until what was deleted is gone. What is still there stays among what remains, as a failure of its object. */
export async function awaitTermination(
  client: ClusterClient,
  user: string,
  result: PruneResult,
  signal: AbortSignal,
  patienceMs: number = PATIENCE_MS,
): Promise<PruneResult> {
  const deadline = Date.now() + patienceMs
  const terminating = new Set<InventoryEntry>()
  for (const { entry, action } of result.objects) {
    if (action !== 'deleted') continue
    while (await isThere(client, user, entry, signal)) {
      if (Date.now() >= deadline) {
        terminating.add(entry)
        break
      }
      await sleep(POLL_MS, undefined, { signal })
    }
  }
  if (terminating.size === 0) return result
  const objects = result.objects.map(object =>
    terminating.has(object.entry)
      ? {
          ...object,
          action: 'failed' as const,
          message: 'it is being deleted, and deletionPolicy WaitForTermination waits',
        }
      : object,
  )
  return { objects, remaining: objects.filter(({ action }) => action === 'failed').map(({ entry }) => entry) }
}

async function isThere(
  client: ClusterClient,
  user: string,
  entry: InventoryEntry,
  signal: AbortSignal,
): Promise<boolean> {
  const id = idOfEntry(entry)
  const find = () => client.discovery.findAnyVersion(id.apiVersion, id.kind)
  return (await readLive(client, { user }, id, { find, signal }))?.live !== undefined
}
