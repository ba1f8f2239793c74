import { type CapsuleUse, capsuleUse } from '../../facts/capsule-users.ts'
import { hashOf, placeText } from '../../facts/fingerprint.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { quoted } from '../../facts/shown.ts'
import { homesOf, nameOfOwner, readCapsuleTenants } from '../../fleet/tenancy/capsule.ts'
import { originAt } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import { listed, type Message, message, part } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { type CapsuleSettings, capsuleSettings } from './support/capsule-settings.ts'
import { CONFIGURATION, capsuleObjects, tenantObjects } from './support/capsule-tenants.ts'

const ACCOUNT = /^system:serviceaccount:([a-z0-9.-]+):[a-z0-9.-]+$/
const ACCOUNTS_OF = /^system:serviceaccounts:([a-z0-9.-]+)$/

/** Capsule looks only at users of the groups that its configuration names: it passes everybody else by. */
export const capsuleGroupMissing: Rule = {
  id: 'capsule-group-missing',
  severity: 'critical',
  title: "Tenant owner outside Capsule's user groups",
  why: "Capsule's admission webhooks ignore requests from users outside `CapsuleConfiguration.spec.userGroups`. An owner account outside these groups can write namespaces, labels and owners without a check.",
  source: 'flux2-capsule-multi-tenancy: Tenant Groups',
  docs: 'Add `system:serviceaccounts:<namespace>` of every account that owns a Tenant to `spec.userGroups`. Keep these accounts out of `spec.ignoreUserWithGroups` and `spec.administrators`.',
  *checkCluster(cluster, { index, before }) {
    const accounts = accountsOf(index, cluster.name)
    if (accounts.length === 0) return
    const settings = capsuleSettings(index, cluster.name)
    if (before) yield* dropped(cluster.name, index, before, settings)
    const [first] = settings
    if (!first) return
    const capsule = index.capsule(cluster.name)
    const uses = accounts.map(account => {
      const { user = '', groups, isAggregated } = account
      return {
        ...account,
        ...capsuleUse(capsule.configuration, { name: user, groups }, capsule.minor, { isAggregated }),
      }
    })
    const missed = uses.filter(({ role }) => role !== 'user')
    for (const same of Map.groupBy(missed, ({ by }) => by).values())
      for (const one of same) yield unchecked(one, same, first, capsule)
  },
}

interface Account {
  /** As the Tenant names it. */
  readonly name: string
  readonly user: string | undefined
  readonly groups: readonly string[]
  readonly tenant: string
  readonly isAggregated: boolean
}

/** Accounts and groups of accounts that own Capsule Tenants: people are in groups that no manifest shows. */
function accountsOf(index: FleetIndex, cluster: string): Account[] {
  const tenants = readCapsuleTenants(tenantObjects(index, cluster))
  const { aggregated } = index.capsule(cluster)
  return tenants.flatMap(({ name: tenant, owners }) =>
    owners.flatMap((owner): Account[] => {
      const namespace = ACCOUNT.exec(owner.name)?.[1]
      const group = owner.kind === 'Group' ? ACCOUNTS_OF.exec(owner.name)?.[1] : undefined
      const home = namespace ?? group
      // the platform's own accounts are not for Capsule to look at
      if (home === undefined || homesOf({ name: tenant, owners: [owner] }).length === 0) return []
      const groups = [`system:serviceaccounts:${home}`, 'system:serviceaccounts', 'system:authenticated']
      const name = nameOfOwner(owner)
      return [{ name, user: namespace && owner.name, groups, tenant, isAggregated: aggregated.has(name) }]
    }),
  )
}

/** An account that Capsule does not take for a user; one finding to people with `same`, which are passed for the same entry or for none. */
function unchecked(
  { name, groups, by: passes, role }: Account & CapsuleUse,
  same: readonly Account[],
  first: CapsuleSettings,
  { version }: ReturnType<FleetIndex['capsule']>,
): Violation {
  const { node, object } = first.rendered
  const path = passes === undefined ? [...first.path, first.groups] : first.path
  const missing = [...new Set(same.map(one => one.groups[0]!))]
  const why =
    passes === undefined
      ? message`${part('field', first.groups)} does not list any of ${same.length === 1 ? 'its' : 'their'} groups (${listed(missing.map(group => quoted('identity', group)))})`
      : message`Capsule ignores requests of ${quoted('identity', passes)}`
  const owners = same.map(
    one => message`${quoted('identity', one.name)} owns the Capsule Tenant ${quoted('object', one.tenant)}`,
  )
  return {
    node,
    object,
    path,
    value: `${passes ?? groups[0]} ${name}`,
    cause: hashOf(['not checked', placeText(originAt(object.root, path)), passes ?? '']),
    message: message`${listed(owners, ' and ')}, but Capsule would not check ${same.length === 1 ? 'its' : 'their'} requests: ${why}. Allowed: an owner in ${part('field', 'spec.userGroups')}, outside ${part('field', 'spec.ignoreUserWithGroups')} and ${part('field', 'spec.administrators')}. Capsule's admission webhooks would accept every request of ${same.length === 1 ? 'this account' : 'these accounts'}${role === 'administrator' ? message`` : exceptFor(version)}.`,
    fix:
      passes === undefined
        ? message`Add ${listed(
            missing.map(group => part('identity', group)),
            ' and ',
          )} to ${part('field', first.groups)}.`
        : message`Remove ${part('identity', passes)} from the CapsuleConfiguration.`,
  }
}

/** What Capsule refuses from 0.13 on, as `namespaceAnswer` has it. */
function exceptFor(version: number | undefined): Message {
  if (version !== undefined && version < 13) return message``
  return message`, ${version === undefined ? 'from Capsule 0.13 on ' : ''}except to write a Namespace that names a Tenant`
}

/** A configuration that is gone, or has another name: Capsule falls back to its default group, in which no account is. */
function* dropped(
  cluster: string,
  index: FleetIndex,
  before: FleetIndex,
  settings: readonly CapsuleSettings[],
): Iterable<Violation> {
  const was = capsuleObjects(before, cluster, CONFIGURATION)[0]
  const name = was && idOf(was.object).name
  const left = capsuleObjects(index, cluster, CONFIGURATION).map(({ object }) => object)
  if (left.some(object => idOf(object).name === name) || settings.length > left.length) return
  const node = index.node(was?.node.key)
  if (!was || !node || node.error) return
  yield {
    node,
    object: left[0] ?? was.object,
    path: ['metadata', 'name'],
    ...(left.length === 0 ? { isBefore: true } : {}),
    value: 'removed',
    message: message`CapsuleConfiguration ${quoted('object', name ?? '')} is removed, and its ${part('field', 'spec.userGroups')} with it, but accounts on this cluster own Capsule Tenants. Allowed: a CapsuleConfiguration with the groups of these accounts.`,
    fix: message`Restore the CapsuleConfiguration.`,
  }
}
