import { andMore } from '../../message/and-more.ts'
import type { FindingPolicy } from '../../rules/model/finding.ts'
import { count } from '../text/headline.ts'
import { placeOf } from '../text/place.ts'
import type { PolicyImpact } from './blast-radius.ts'

/** Limit of listed policies; the rest is counted. */
const MAX_POLICIES = 10
const MAX_TENANTS = 8
const MAX_CLUSTERS = 5
const MAX_NAMES = 5

/** A policy with one line per tenant. */
interface ImpactLine {
  readonly head: string
  readonly tenants: readonly string[]
}

export interface ImpactLines {
  readonly lines: readonly ImpactLine[]
  /** The number of policies that are not listed. */
  readonly left: number
}

/** The effect on the objects, as the predicate of a sentence. */
const EFFECTS: Readonly<Record<FindingPolicy['action'], string>> = {
  deny: 'denies',
  allow: 'no longer denies',
  unverified: 'no longer verifies the images of',
  warn: 'only warns about',
  audit: 'only reports (audit)',
  unknown: 'could not be evaluated for',
}

/** Lists existing objects by policy and tenant in a limited number of lines. `quote` escapes untrusted values; `here` is the reader's repository. */
export function impactLines(
  impacts: readonly PolicyImpact[],
  here: string,
  quote: (text: string) => string,
): ImpactLines {
  const lines = impacts.slice(0, MAX_POLICIES).map(impact => ({
    head: headOf(impact, here, quote),
    tenants: tenantLines(impact, quote),
  }))
  return { lines, left: impacts.length - lines.length }
}

function headOf(
  { policy, rules, origin, objects, tenants }: PolicyImpact,
  here: string,
  quote: (text: string) => string,
) {
  const { kind, namespace, name, action } = policy
  const who = quote(`${kind} ${namespace === '' ? name : `${namespace}/${name}`}`)
  const by = rules.length === 0 ? '' : `, ${few(rules, MAX_NAMES, quote)}`
  const others = tenants.filter(({ tenant }) => tenant !== '').length
  const owners = [
    ...(others < tenants.length ? ['the platform'] : []),
    ...(others > 0 ? [count(others, 'tenant')] : []),
  ]
  return `${who} (${quote(placeOf(origin, here) || 'no file')}${by}) ${EFFECTS[action]} ${count(objects, action === 'allow' || action === 'unverified' ? 'object' : 'existing object')} of ${owners.join(' and ')}`
}

function tenantLines({ tenants }: PolicyImpact, quote: (text: string) => string): string[] {
  const lines = tenants.slice(0, MAX_TENANTS).map(({ tenant, objects, clusters, names }) => {
    const whose = tenant === '' ? 'the platform' : `tenant ${quote(tenant)}`
    const on = clusters.map(one =>
      clusters.length === 1 ? quote(one.cluster) : `${quote(one.cluster)} (${one.objects})`,
    )
    return `${whose}: ${objects} on ${few(on, MAX_CLUSTERS)}: ${few(names, MAX_NAMES, quote)}`
  })
  const rest = tenants.slice(lines.length)
  const left = rest.reduce((sum, { objects }) => sum + objects, 0)
  return left > 0 ? [...lines, `and ${rest.length} more: ${count(left, 'object')}`] : lines
}

/** The first items of a list, and the number of the others. */
function few(list: readonly string[], max: number, quote: (text: string) => string = text => text): string {
  const rest = list.length - max
  return `${list.slice(0, max).map(quote).join(', ')}${andMore(rest)}`
}
