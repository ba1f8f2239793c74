import { BailiwickError } from '../errors.ts'
import type { ClusterClient } from './client.ts'
import { ownTargetReason } from './own-target-reason.ts'

/** Throws `cluster-forbidden` for a target that is the worker itself (see ownTargetReason), before anything is sent to it. */
export async function refuseOwnTarget(
  client: ClusterClient,
  target: Parameters<typeof ownTargetReason>[1],
): Promise<void> {
  const reason = await ownTargetReason(client, target)
  if (reason === undefined) return
  throw new BailiwickError('cluster-forbidden', `${reason}. Allowed: targets other than the worker itself`, {
    fix: "Remove it from the fleet, and apply the worker's own manifests with kubectl.",
  })
}
