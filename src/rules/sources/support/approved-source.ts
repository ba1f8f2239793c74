import { kindOf } from '../../../facts/kind-of.ts'
import { addressIn } from '../../../fleet/model/address-in.ts'
import { accountOf, applierKinds } from '../../../fleet/model/appliers.ts'
import type { Lockdown } from '../../../fleet/model/fleet.ts'
import type { FleetConfig } from '../../../fleet/model/fleet-config.ts'
import { refKey } from '../../../fleet/model/ref.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { userOfAccount } from '../../../kube/rbac/groups-of.ts'
import type { SourceUse } from '../../model/finding.ts'

/** Whether the fleet's file lists exactly this. */
export function isApprovedSource({ approvedSources, aliases }: FleetConfig, use: SourceUse): boolean {
  return approvedSources.some(
    one =>
      one.tenant === use.tenant &&
      addressIn(aliases, one.url) === use.url &&
      refKey(one.ref) === refKey(use.ref) &&
      one.account === use.account,
  )
}

/** The user that applies what an object takes from a source; a kind that applies nothing hands it on. */
export function applierOf(taker: KubeObject, lockdown: Lockdown | undefined): string {
  const { kind, namespace } = idOf(taker)
  const account = applierKinds.includes(kindOf(taker)) ? accountOf(taker, lockdown) : undefined
  return account === undefined ? `the controller of ${kind}` : userOfAccount(namespace, account)
}
