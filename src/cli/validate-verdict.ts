import { evaluatedOf } from '../evaluate/verdict/evaluated.ts'
import { failureOf, findingOf } from '../evaluate/verdict/finding-of.ts'
import { FleetIndex } from '../facts/fleet-index.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { idOf } from '../kube/object.ts'
import type { Finding, Verdict } from '../rules/model/finding.ts'
import { schemaMismatch } from '../rules/schema/schema-mismatch.ts'
import { compareObject } from '../rules/schema/support/compare-object.ts'
import type { ComparedVersion } from '../rules/schema/support/compared-version.ts'
import { isDecrypted } from '../rules/schema/support/is-decrypted.ts'
import { mismatches } from '../rules/schema/support/mismatches.ts'

/** What schemas alone report of these nodes of a fleet, as the formats of a verdict print it. `versions`: by cluster. */
export function validateVerdict(
  fleet: Fleet,
  nodes: readonly FleetNode[],
  versions: ReadonlyMap<string, ComparedVersion>,
): Verdict {
  const index = new FleetIndex(fleet)
  const findings = nodes.flatMap(node =>
    node.objects.flatMap((object): Finding[] => {
      const definitions = (kind: string) => index.definitionsOf(node.cluster, kind)
      const compared = compareObject(object, versions.get(node.cluster)!, definitions, isDecrypted(node))
      return [...mismatches({ object, id: idOf(object), node }, compared)].map(breach => {
        const weight = { level: breach.level ?? 'violation', severity: schemaMismatch.severity }
        return findingOf(schemaMismatch, weight, breach, index)
      })
    }),
  )
  const errors = nodes.flatMap(node => {
    const error = whyIncomplete(node)
    const fix = error?.fix ?? 'Correct the file.'
    const origin = error?.origin ?? node.kustomization.root.origin
    return error ? [failureOf(node, { code: error.code, message: error.message, fix, blocksApply: true }, origin)] : []
  })
  const violations = findings.filter(({ level }) => level === 'violation')
  const warnings = findings.filter(({ level }) => level === 'warning')
  return {
    result: errors.length > 0 ? 'error' : violations.length > 0 ? 'fail' : 'pass',
    summary: `${violations.length} violations, ${warnings.length} warnings and ${errors.length} errors of schemas`,
    clusters: fleet.clusters.filter(({ name }) => versions.has(name)),
    tenants: [],
    violations,
    warnings,
    errors,
    notSeen: [],
    notReached: [],
    notEvaluated: [],
    requiredApprovals: [],
    evaluated: evaluatedOf({ ...fleet, clusters: fleet.clusters.filter(({ name }) => versions.has(name)), nodes }),
    combination: '',
  }
}
