import { hash } from 'node:crypto'
import type { ChangedFile, Verdict } from '../../rules/model/finding.ts'
import { sumOf } from './evaluated.ts'
import { withSummary } from './summary.ts'

const RANK = { pass: 0, fail: 1, error: 2 } as const

/** One verdict out of those of several fleets that read the same repository: the worst result, everything listed. Needs at least one. */
export function mergeVerdicts(verdicts: readonly [Verdict, ...Verdict[]]): Verdict {
  const [first, ...others] = verdicts
  if (others.length === 0) return first
  const worst = verdicts.reduce((a, b) => (RANK[b.result] > RANK[a.result] ? b : a))
  return withSummary({
    result: worst.result,
    clusters: verdicts.flatMap(verdict => verdict.clusters),
    tenants: mergeTenants(verdicts.flatMap(verdict => verdict.tenants)),
    violations: verdicts.flatMap(verdict => verdict.violations),
    warnings: verdicts.flatMap(verdict => verdict.warnings),
    errors: verdicts.flatMap(verdict => verdict.errors),
    notSeen: verdicts.flatMap(verdict => verdict.notSeen),
    notReached: verdicts.flatMap(verdict => verdict.notReached),
    notEvaluated: verdicts.flatMap(verdict => verdict.notEvaluated),
    requiredApprovals: verdicts.flatMap(verdict => verdict.requiredApprovals),
    ...(verdicts.some(({ changedFiles }) => changedFiles) ? { changedFiles: mergeFiles(verdicts) } : {}),
    ...(first.changedIn === undefined ? {} : { changedIn: first.changedIn }),
    evaluated: sumOf(verdicts.map(verdict => verdict.evaluated)),
    combination: hash('sha256', verdicts.map(verdict => verdict.combination).join(' ')),
  })
}

const WEIGHT = { unread: 0, rendered: 1, unseen: 2 } as const

/** What one fleet renders another one may apply unseen: each file once, as the one says that saw least. */
function mergeFiles(verdicts: readonly Verdict[]): ChangedFile[] {
  const byPath = Map.groupBy(
    verdicts.flatMap(({ changedFiles = [] }) => changedFiles),
    ({ path }) => path,
  )
  return [...byPath.values()].map(all => all.reduce((a, b) => (WEIGHT[b.state] > WEIGHT[a.state] ? b : a)))
}

/** A name stands once: whoever reads the verdict cannot tell the fleets apart by it. */
function mergeTenants(tenants: Verdict['tenants']): Verdict['tenants'] {
  const union = (lists: readonly (readonly string[])[]) => [...new Set(lists.flat())].sort()
  return [...Map.groupBy(tenants, tenant => tenant.name)]
    .map(([name, all]) => ({
      name,
      clusters: union(all.map(one => one.clusters)),
      namespaces: union(all.map(one => one.namespaces)),
      identities: union(all.map(one => one.identities)),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
