import { ENGINE_VERSION } from '../../src/fleet/model/engine-version.ts'
import { isLoopbackUrl } from '../../src/process/loopback.ts'
import type { TrailAnchor, TrailDecision } from '../../src/trail/trail-entry.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { nameInAddress } from '../fleets/name-in-address.ts'

/** Decisions of this time are written together; on one machine nobody has to be spared. */
const WAIT_MS = 15_000
const LOOPBACK_WAIT_MS = 50

/** The fleet that a decision is about, as its normalized address. */
export interface FleetAddress {
  readonly installation: number
  readonly url: string
}

/** What the caller knows of a decision. */
export type NewDecision = Omit<TrailDecision, 'at' | 'engine'>

/**
 * Records a decision in the trail of its fleet. A separate job writes it, and nothing waits for that job. If the outbox does not
 * respond, the caller's job fails and is retried, so that no decision is lost. Returns the current end of the trail, which the
 * caller publishes. `once`: skips a decision whose id was recorded recently.
 */
export async function recordDecision(
  { outbox, queue, config }: Pick<WorkerContext, 'outbox' | 'queue' | 'config'>,
  { installation, url }: FleetAddress,
  decision: NewDecision,
  { once = false }: { readonly once?: boolean } = {},
): Promise<TrailAnchor | undefined> {
  if (outbox === undefined) return undefined
  const fleet = nameInAddress(url)
  if (fleet === undefined) return undefined
  const place = { installation, owner: fleet.owner, repo: fleet.repo }
  const isNew = await outbox.add(place, { ...decision, at: new Date().toISOString(), engine: ENGINE_VERSION }, once)
  if (!isNew) return outbox.head(place)
  const delayMs = isLoopbackUrl(config.githubApiUrl) ? LOOPBACK_WAIT_MS : WAIT_MS
  await queue.add('write-trail', place, { delayMs })
  return outbox.head(place)
}
