import { display } from '../../kube/object.ts'
import type { Finding, FindingPolicy, Verdict } from '../../rules/model/finding.ts'

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
