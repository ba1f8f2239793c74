import type { Finding, NodeFailure, Verdict } from '../rules/finding.ts'

/** A verdict as one audience may see it, and how much of it that audience is not shown. */
export interface View {
  readonly verdict: Verdict
  /** Violations and errors of others that decide the result, counted only. */
  readonly hidden: { readonly violations: number; readonly errors: number }
}

/**
 * What the repository of the tenants `audience` may be shown: its own findings, clusters and sources; other tenants are counted,
 * never named. Without an audience (the fleet's own repository) everything.
 */
export function viewFor(verdict: Verdict, audience: readonly string[] | undefined, repository: string): View {
  if (audience === undefined) return { verdict, hidden: { violations: 0, errors: 0 } }
  const others = verdict.tenants.map(tenant => tenant.name).filter(name => !audience.includes(name))
  const tenants = verdict.tenants.filter(tenant => audience.includes(tenant.name))
  const mine = <T extends { tenant: string }>(list: readonly T[]) => list.filter(item => audience.includes(item.tenant))
  const own = [...mine(verdict.violations), ...mine(verdict.warnings), ...mine(verdict.errors)]
  const clusters = new Set([...tenants.flatMap(tenant => tenant.clusters), ...own.map(item => item.cluster)])
  const namespaces = new Set(tenants.flatMap(tenant => tenant.namespaces))
  return {
    verdict: {
      ...verdict,
      summary: '',
      clusters: verdict.clusters.filter(cluster => clusters.has(cluster.name)),
      tenants,
      violations: mine(verdict.violations).map(finding => anonymous(finding, others)),
      warnings: mine(verdict.warnings).map(finding => anonymous(finding, others)),
      errors: mine(verdict.errors).map(failure => anonymousFailure(failure, others, repository)),
      notSeen: verdict.notSeen.filter(
        seen => seen.url === repository || seen.source.split('/').some(part => namespaces.has(part)),
      ),
    },
    hidden: {
      violations: foreignNew(verdict.violations, audience),
      errors: foreignNew(verdict.errors, audience),
    },
  }
}

function foreignNew(list: readonly { tenant: string; state: string }[], audience: readonly string[]): number {
  return list.filter(item => !audience.includes(item.tenant) && item.state === 'new').length
}

function anonymous(finding: Finding, others: readonly string[]): Finding {
  // what the tenant wrote itself is no news to it
  const own = new Set([finding.object.name, finding.object.namespace, finding.tenant])
  return {
    ...finding,
    message: withoutNames(finding.message, others, own),
    fix: withoutNames(finding.fix, others, own),
    via: finding.via.map(step => ({ ...step, file: withoutNames(step.file, others, new Set()) })),
  }
}

function anonymousFailure(failure: NodeFailure, others: readonly string[], repository: string): NodeFailure {
  const file = failure.origin.repository === repository ? failure.origin.file : ''
  return {
    ...failure,
    message: withoutNames(failure.message, others, new Set([failure.tenant])),
    fix: withoutNames(failure.fix, others, new Set([failure.tenant])),
    origin:
      file === '' ? { ...failure.origin, file: withoutNames(failure.origin.file, others, new Set()) } : failure.origin,
  }
}

/** Replaces the names of other tenants; a name in `own` only where the text calls it a tenant. */
function withoutNames(text: string, others: readonly string[], own: ReadonlySet<string>): string {
  let out = text
  for (const name of others) {
    if (!out.includes(name)) continue
    const pattern = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    out = out.replace(new RegExp(`\\btenant ["'\`]?${pattern}(?![\\w-])["'\`]?`, 'g'), 'another tenant')
    if (!own.has(name)) out = out.replace(new RegExp(`(?<![\\w-])${pattern}(?![\\w-])`, 'g'), 'another tenant')
  }
  return out
}
