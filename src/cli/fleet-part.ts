import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { visible } from '../message/visible.ts'
import { count } from '../report/text/headline.ts'
import { assertKnown } from './assert-known.ts'
import type { ParsedOptions } from './parse-options.ts'
import { clustersOf } from './read-fleet.ts'
import { usageError } from './usage-error.ts'

/** The options that name a part of a fleet; `fleetPart` reads them. */
export const PART_OPTIONS = ['cluster', 'tenant'] as const

/** How these options are explained. */
export const PART_HELP = `  --cluster NAME only this cluster (default: all; repeatable)
  --tenant NAME  only this tenant (default: all; repeatable)`

/** What `--cluster` and `--tenant` select. */
interface FleetPart {
  /** The selected clusters; all where none is named. */
  readonly clusters: readonly string[]
  /** The selected tenants; undefined where none is named: all of them, and the platform. */
  readonly tenants?: ReadonlySet<string>
  has(node: Pick<FleetNode, 'cluster' | 'tenant'>): boolean
  /** The last line of a text: what is listed, and how much is not. Empty where nothing is left out. */
  readonly leftOut: readonly string[]
}

/** Reads `--cluster` and `--tenant`. Throws `usage` for a name that the fleet does not have, and for a tenant that is on none of the clusters. */
export function fleetPart(fleet: Fleet, { all }: Pick<ParsedOptions, 'all'>, usage: string): FleetPart {
  const names = clustersOf(fleet, undefined, usage)
  const [asked, of] = [all('cluster'), all('tenant')]
  assertKnown('cluster', asked, new Set(names))
  assertKnown('tenant', of, new Set(fleet.tenants.map(({ name }) => name)))
  const on = asked.length === 0 ? names : names.filter(name => asked.includes(name))
  for (const name of of) {
    const there = fleet.tenants.find(one => one.name === name)?.clusters ?? []
    if (there.length > 0 && !there.some(cluster => on.includes(cluster))) {
      const fix = `Name one of its clusters with --cluster: ${there.join(', ')}.`
      throw usageError(usage, `tenant ${visible(name)} is not on ${on.join(', ')}`, fix)
    }
  }
  const tenants = of.length === 0 ? undefined : new Set(of)
  return {
    clusters: on,
    ...(tenants ? { tenants } : {}),
    has: ({ cluster, tenant = '' }) => on.includes(cluster) && (!tenants || tenants.has(tenant)),
    leftOut: leftOutLine(fleet, on, tenants),
  }
}

function leftOutLine(fleet: Fleet, on: readonly string[], tenants: ReadonlySet<string> | undefined): string[] {
  const clusters = fleet.clusters.length - on.length
  const others = tenants ? fleet.tenants.filter(({ name }) => !tenants.has(name)).length : 0
  const left = [
    ...(clusters > 0 ? [count(clusters, 'other cluster')] : []),
    ...(others > 0 ? [count(others, 'other tenant')] : []),
    ...(tenants ? ['the platform'] : []),
  ]
  if (left.length === 0) return []
  const only = [
    ...(clusters > 0 ? [`${on.length === 1 ? 'cluster' : 'clusters'} ${on.join(', ')}`] : []),
    ...(tenants ? [`${tenants.size === 1 ? 'tenant' : 'tenants'} ${[...tenants].join(', ')}`] : []),
  ]
  return [visible(`only ${only.join(' and ')}; not listed: ${left.join(', ')}`, 500)]
}
