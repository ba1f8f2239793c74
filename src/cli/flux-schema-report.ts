import { FleetIndex } from '../facts/fleet-index.ts'
import { objectPart } from '../facts/shown.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { pointer } from '../kube/pointer.ts'
import { plainText } from '../message/message.ts'
import { compareObject } from '../rules/schema/support/compare-object.ts'
import type { ComparedVersion } from '../rules/schema/support/compared-version.ts'
import { isDecrypted } from '../rules/schema/support/is-decrypted.ts'
import { problemText } from '../rules/schema/support/problem-text.ts'

/**
 * The Report of flux-schema (schema.plugin.fluxcd.io/v1beta1) about these nodes: a source per Kustomization, in the order of its build. What
 * only the catalog or Flux's own types refuse is invalid there, too: it knows no warnings. It says nothing about deprecated versions.
 */
export function fluxSchemaReport(
  fleet: Fleet,
  nodes: readonly FleetNode[],
  versions: ReadonlyMap<string, ComparedVersion>,
  { version, timestamp }: { readonly version: string; readonly timestamp: string },
): string {
  const index = new FleetIndex(fleet)
  const results = nodes.flatMap(node =>
    node.objects.map((object, idx) => resultOf(node, object, idx, versions.get(node.cluster)!, index)),
  )
  const count = (status: string) => results.filter(one => one.status === status).length
  const summary = {
    total: results.length,
    valid: count('valid'),
    invalid: count('invalid'),
    skipped: count('skipped'),
  }
  const report = { reporter: `flux-schema/bailiwick-${version}`, timestamp, summary, results }
  return `${JSON.stringify({ apiVersion: 'schema.plugin.fluxcd.io/v1beta1', kind: 'Report', report }, null, 2)}\n`
}

function resultOf(node: FleetNode, object: KubeObject, idx: number, version: ComparedVersion, index: FleetIndex) {
  const id = idOf(object)
  const definitions = (kind: string) => index.definitionsOf(node.cluster, kind)
  const { answer, server } = compareObject(object, version, definitions, isDecrypted(node))
  const { apiVersion, kind, namespace, name } = id
  const resource = { apiVersion, kind, ...(namespace ? { namespace } : {}), ...(name ? { name } : {}) }
  const at = { resource, source: node.key, idx }
  if (!answer.isKnown) return { ...at, status: 'skipped', reason: 'schema-not-found' }
  const problems = answer.problems.filter(({ kind }) => kind !== 'deprecated-version')
  if (problems.length === 0) return { ...at, status: 'valid' }
  const who = objectPart(kind, namespace, name)
  const violations = problems.map(problem => ({
    path: pointer(problem.path),
    message: plainText(problemText(problem, who, server).message),
  }))
  return { ...at, status: 'invalid', reason: 'schema-violation', violations }
}
