import type { Origin } from '../../base/origin.ts'
import { flagsByController } from '../../fleet/bootstrap/lockdown.ts'
import { hashOf, placeText } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Cluster } from '../../fleet/model/fleet.ts'

const DEFAULT_ACCOUNT = 'default-service-account'

/** Where a flag of a controller is written. */
export function flagOrigin(flux: Cluster['lockdown']['flux'], controller: string, flag: string): Origin | undefined {
  const flags = flux?.controllers.find(({ name }) => name === controller)?.flags
  return flags?.findLast(({ name }) => name === flag)?.origin
}

/** One line sets flags of several controllers: a change of it is one cause. */
export const flagCause = (cluster: string, flag: string, now: string, origin: Origin | undefined): string =>
  hashOf(origin ? [now, placeText(origin)] : [flag, now, cluster])

/** The cause of what follows where a change takes the default account of a cluster's objects, or sets another one. */
export function lostDefaultAccount(cluster: string, index: FleetIndex, before: FleetIndex | undefined) {
  const [was, is] = [before, index].map(one => one?.cluster(cluster)?.lockdown.flux)
  const after = flagsByController(is)
  for (const [controller, flags] of flagsByController(was)) {
    const now = after.get(controller)?.get(DEFAULT_ACCOUNT) ?? ''
    if (!after.has(controller) || (flags.get(DEFAULT_ACCOUNT) ?? now) === now) continue
    const origin = flagOrigin(is, controller, DEFAULT_ACCOUNT) ?? flagOrigin(was, controller, DEFAULT_ACCOUNT)
    return flagCause(cluster, DEFAULT_ACCOUNT, now, origin)
  }
  return undefined
}
