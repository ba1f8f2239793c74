import { capsuleUse } from '../../facts/capsule-users.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { quoted } from '../../facts/shown.ts'
import { homesOf, nameOfOwner, readCapsuleTenants } from '../../fleet/tenancy/capsule.ts'
import { idOf } from '../../kube/object.ts'
import { message, part } from '../../message/message.ts'
import type { Breach, Rule } from '../model/rule.ts'
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
    for (const account of accounts) {
      const problem = unknown(account, first, capsule)
      if (problem) yield problem
    }
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

function unknown(
  { name, user = '', groups, tenant, isAggregated }: Account,
  first: CapsuleSettings,
  { configuration, minor }: ReturnType<FleetIndex['capsule']>,
): Breach | undefined {
  const { role, by: passes } = capsuleUse(configuration, { name: user, groups }, minor, { isAggregated })
  if (role === 'user') return undefined
  const { node, object } = first.rendered
  const path = passes === undefined ? [...first.path, first.groups] : first.path
  const why =
    passes === undefined
      ? message`${part('field', first.groups)} does not list any of its groups (${quoted('identity', groups[0]!)})`
      : message`Capsule ignores requests of ${quoted('identity', passes)}`
  return {
    node,
    object,
    path,
    value: `${passes ?? groups[0]} ${name}`,
    message: message`${quoted('identity', name)} owns the Capsule Tenant ${quoted('object', tenant)}, but Capsule would not check its requests: ${why}. Allowed: an owner in ${part('field', 'spec.userGroups')}, outside ${part('field', 'spec.ignoreUserWithGroups')} and ${part('field', 'spec.administrators')}. Capsule's admission webhooks would accept every request of this account.`,
    fix:
      passes === undefined
        ? message`Add ${part('identity', groups[0]!)} to ${part('field', first.groups)}.`
        : message`Remove ${part('identity', passes)} from the CapsuleConfiguration.`,
  }
}

/** A configuration that is gone, or has another name: Capsule falls back to its default group, in which no account is. */
function* dropped(
  cluster: string,
  index: FleetIndex,
  before: FleetIndex,
  settings: readonly CapsuleSettings[],
): Iterable<Breach> {
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
    ...(left.length === 0 ? { origin: node.kustomization.root.origin } : {}),
    value: 'removed',
    message: message`CapsuleConfiguration ${quoted('object', name ?? '')} is removed, and its ${part('field', 'spec.userGroups')} with it, but accounts on this cluster own Capsule Tenants. Allowed: a CapsuleConfiguration with the groups of these accounts.`,
    fix: message`Restore the CapsuleConfiguration.`,
  }
}
