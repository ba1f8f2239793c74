import { code } from '../base/markup.ts'
import { firstNames } from '../base/name-list.ts'
import { display } from '../kube/object.ts'
import type { Finding, FindingPolicy, Verdict } from '../rules/model/finding.ts'
import { count } from './text/findings.ts'
import { placeOf } from './text/place.ts'

/** The effect of a changed policy on objects that the change does not alter, and on all that it no longer denies or verifies. */
export interface PolicyImpact {
  readonly policy: Pick<FindingPolicy, 'kind' | 'namespace' | 'name' | 'action'>
  /** Location of the first of its rules that has a finding. */
  readonly origin: FindingPolicy['origin']
  /** Its rules or bindings with findings, sorted. */
  readonly rules: readonly string[]
  /** Number of objects; each counts once per cluster. */
  readonly objects: number
  /** Sorted by number of objects, largest first. */
  readonly tenants: readonly TenantImpact[]
}

interface TenantImpact {
  /** '' for the platform. */
  readonly tenant: string
  readonly objects: number
  readonly clusters: readonly { readonly cluster: string; readonly objects: number }[]
  /** Distinct object names, sorted. */
  readonly names: readonly string[]
}

const RANK: Readonly<Record<FindingPolicy['action'], number>> = {
  deny: 0,
  allow: 1,
  unverified: 2,
  warn: 3,
  audit: 4,
  unknown: 5,
}

/**
 * The existing objects that policies newly refuse or cannot evaluate, and all that they no longer refuse or verify, because the change alters a
 * policy or something that the policy reads. Grouped by policy, tenant and cluster; denials come first. Empty without a base.
 */
export function blastRadius({ violations, warnings }: Pick<Verdict, 'violations' | 'warnings'>): PolicyImpact[] {
  const found = [...violations, ...warnings].filter(isOfChangedPolicy)
  const groups = Map.groupBy(found, ({ policy: { kind, namespace, name, action } }) =>
    JSON.stringify([RANK[action], kind, namespace, name]),
  )
  return [...groups]
    .map(([key, findings]) => ({ key, impact: impactOf(findings) }))
    .sort(
      (a, b) =>
        RANK[a.impact.policy.action] - RANK[b.impact.policy.action] ||
        b.impact.objects - a.impact.objects ||
        compare(a.key, b.key),
    )
    .map(({ impact }) => impact)
}

const LOOSENED: ReadonlySet<string> = new Set(['allow', 'unverified'])

type PolicyOnUnchanged = Finding & { readonly policy: FindingPolicy }

const isOfChangedPolicy = (finding: Finding): finding is PolicyOnUnchanged =>
  finding.state === 'new' && (finding.policy?.isUnchanged === true || LOOSENED.has(finding.policy?.action ?? ''))

function impactOf(findings: readonly PolicyOnUnchanged[]): PolicyImpact {
  const { kind, namespace, name, action, origin } = findings[0]!.policy
  const tenants = [...Map.groupBy(findings, ({ tenant }) => tenant)]
    .map(([tenant, own]) => tenantImpact(tenant, own))
    .sort((a, b) => b.objects - a.objects || compare(a.tenant, b.tenant))
  return {
    policy: { kind, namespace, name, action },
    origin,
    rules: [...new Set(findings.map(({ policy }) => policy.rule).filter(rule => rule !== ''))].sort(compare),
    objects: tenants.reduce((sum, { objects }) => sum + objects, 0),
    tenants,
  }
}

function tenantImpact(tenant: string, findings: readonly PolicyOnUnchanged[]): TenantImpact {
  const clusters = [...Map.groupBy(findings, ({ cluster }) => cluster)]
    .map(([cluster, own]) => ({ cluster, objects: new Set(own.map(keyOf)).size }))
    .sort((a, b) => compare(a.cluster, b.cluster))
  return {
    tenant,
    objects: clusters.reduce((sum, { objects }) => sum + objects, 0),
    clusters,
    names: [...new Set(findings.map(({ object }) => display(object)))].sort(compare),
  }
}

const keyOf = ({ object }: Finding) => JSON.stringify(object)

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

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
  readonly heading: string
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

/**
 * Existing objects by policy and tenant in a limited number of lines; undefined if changed policies affect none. `quote`
 * escapes untrusted values; `here` is the reader's repository.
 */
export function listedImpact(
  verdict: Pick<Verdict, 'violations' | 'warnings'>,
  here: string,
  quote: (text: string) => string,
): ImpactLines | undefined {
  const impacts = blastRadius(verdict)
  if (impacts.length === 0) return undefined
  const lines = impacts.slice(0, MAX_POLICIES).map(impact => ({
    head: headOf(impact, here, quote),
    tenants: tenantLines(impact, quote),
  }))
  return { heading: impactHeading(impacts), lines, left: impacts.length - lines.length }
}

function headOf(
  { policy, rules, origin, objects, tenants }: PolicyImpact,
  here: string,
  quote: (text: string) => string,
) {
  const { kind, namespace, name, action } = policy
  const who = quote(`${kind} ${namespace === '' ? name : `${namespace}/${name}`}`)
  const by = rules.length === 0 ? '' : `, ${firstNames(rules, MAX_NAMES, quote)}`
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
    return `${whose}: ${objects} on ${firstNames(on, MAX_CLUSTERS)}: ${firstNames(names, MAX_NAMES, quote)}`
  })
  const rest = tenants.slice(lines.length)
  const left = rest.reduce((sum, { objects }) => sum + objects, 0)
  return left > 0 ? [...lines, `and ${rest.length} more: ${count(left, 'object')}`] : lines
}

/** The effect of changed policies on existing objects as a Markdown list; undefined if there is none. */
export function impactSection(
  verdict: Pick<Verdict, 'violations' | 'warnings'>,
  here: string,
): { readonly heading: string; readonly list: string } | undefined {
  const impact = listedImpact(verdict, here, text => code(text, 120))
  if (!impact) return undefined
  const items = impact.lines.flatMap(({ head, tenants }) => [`- ${head}`, ...tenants.map(line => `  - ${line}`)])
  if (impact.left > 0) items.push(`- … ${policiesLeft(impact)}`)
  return { heading: impact.heading, list: items.join('\n') }
}

/** Policies that are not listed: `and 3 more policies`. */
export const policiesLeft = ({ left }: ImpactLines): string => `and ${left} more ${left === 1 ? 'policy' : 'policies'}`

/** For example: `Objects that changed policies affect: 12 denied, 3 audited`. */
function impactHeading(impacts: readonly PolicyImpact[]): string {
  const sum = (of: readonly PolicyImpact['policy']['action'][]) =>
    impacts.filter(({ policy }) => of.includes(policy.action)).reduce((all, { objects }) => all + objects, 0)
  const counts = [
    [sum(['deny']), 'denied'],
    [sum(['allow']), 'no longer denied'],
    [sum(['unverified']), 'no longer verified'],
    [sum(['warn', 'audit']), 'warned about or audited'],
    [sum(['unknown']), 'not evaluated'],
  ] as const
  const parts = counts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`)
  return `Objects that changed policies affect: ${parts.join(', ')}`
}
