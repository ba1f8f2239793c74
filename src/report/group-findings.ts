import type { Finding, Severity } from '../rules/finding.ts'

/** The same finding on one or more clusters: said once. */
export interface FindingGroup {
  readonly finding: Finding
  readonly clusters: readonly string[]
}

const WEIGHT: Record<Severity, number> = { critical: 0, high: 1, medium: 2, low: 3 }

/** Puts equal findings of several clusters together; the most severe first, then by rule, file and line. */
export function groupFindings(findings: readonly Finding[]): FindingGroup[] {
  const groups = new Map<string, { finding: Finding; clusters: string[] }>()
  for (const finding of findings) {
    const { rule, state, tenant, identity, object, field, origin, message } = finding
    const key = JSON.stringify([rule, state, tenant, identity, object, field, origin, message])
    const group = groups.get(key)
    if (!group) groups.set(key, { finding, clusters: [finding.cluster] })
    else if (!group.clusters.includes(finding.cluster)) group.clusters.push(finding.cluster)
  }
  return [...groups.values()].sort((a, b) => compareFindings(a.finding, b.finding))
}

/** Order in which findings are said. */
function compareFindings(a: Finding, b: Finding): number {
  return (
    WEIGHT[a.severity] - WEIGHT[b.severity] ||
    compare(a.rule, b.rule) ||
    compare(a.origin.repository, b.origin.repository) ||
    compare(a.origin.file, b.origin.file) ||
    a.origin.line - b.origin.line ||
    compare(a.cluster, b.cluster)
  )
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
