import { type CapsuleSettings, capsuleSettings as settingsOf } from '../../../facts/capsule-settings.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { nameOfOwner, readCapsuleTenants } from '../../../fleet/tenancy/capsule.ts'
import { at, stringAt } from '../../../kube/node.ts'
import { accountOf, userInfo } from '../../../kube/rbac/groups-of.ts'
import { capsuleObjects, TENANT, TENANT_OWNER } from './capsule-tenants.ts'
import { listAt, textsAt } from './list-at.ts'

export type { CapsuleSettings }

/** Where a cluster says whom Capsule looks at. */
export const capsuleSettings = (index: FleetIndex, cluster: string): CapsuleSettings[] =>
  settingsOf(kind => capsuleObjects(index, cluster, kind))

/** Owners whom Capsule accepts without an entry in its configuration, as `nameOfOwner` writes them. */
export function aggregatedOwners(index: FleetIndex, cluster: string): ReadonlySet<string> {
  const all = [TENANT, TENANT_OWNER].flatMap(kind => capsuleObjects(index, cluster, kind).map(({ object }) => object))
  const owners = readCapsuleTenants(all).flatMap(tenant => tenant.owners)
  return new Set(owners.filter(one => one.isAggregated).map(nameOfOwner))
}

/** What a CapsuleConfiguration says about someone with these names: the user, and groups. */
interface CapsuleUse {
  /** Capsule evaluates the requests. */
  readonly isListed: boolean
  /** The entry because of which it does not evaluate them all the same. */
  readonly ignored: string | undefined
  /** Among the administrators, whose Namespaces Capsule evaluates too (0.13 and later). */
  readonly isAdministrator: boolean
}

/** Whether Capsule evaluates the requests of someone. */
export function capsuleUse(settings: readonly CapsuleSettings[], names: readonly string[]): CapsuleUse {
  const specs = settings.map(({ rendered, path }) => at(rendered.object.root, path))
  const isMe = (text: string) => names.includes(text)
  const listed = (field: string) => specs.flatMap(spec => textsAt(spec, [field]))
  const subjects = (field: string) =>
    settings.flatMap(({ hasUsers }, index) =>
      hasUsers ? listAt(specs[index], [field]).flatMap(item => stringAt(item, ['name']) ?? []) : [],
    )
  // an account is not a group: Capsule compares the list with the groups of a request
  const named = settings.flatMap((one, index) => textsAt(specs[index], [one.groups])).filter(text => !accountOf(text))
  const administrator = subjects('administrators').find(isMe)
  return {
    isListed: [...named, ...listed('userNames'), ...subjects('users')].some(isMe),
    ignored: listed('ignoreUserWithGroups').find(isMe) ?? administrator,
    isAdministrator: administrator !== undefined,
  }
}

/**
 * Whether Capsule's webhooks evaluate what an owner of a Tenant writes. Where no configuration is visible they do; one outside
 * the groups is the rule capsule-group-missing's.
 */
export function isCapsuleUser(index: FleetIndex, cluster: string, user: string): boolean {
  const settings = capsuleSettings(index, cluster)
  if (settings.length === 0) return true
  const { isListed, ignored } = capsuleUse(settings, [user, ...userInfo(user).groups])
  if (ignored !== undefined) return false
  return isListed || aggregatedOwners(index, cluster).has(`ServiceAccount ${user}`)
}
