import { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import type { Fleet } from '../../../fleet/model/fleet.ts'
import { at, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import type { SourceLine } from '../../../origin.ts'
import type { PolicyRuleName } from '../../../policy/admission/admission-request.ts'
import { policyEngines } from '../../../policy/registry/policy-engines.ts'
import { admissionOf } from './admission-of.ts'
import { KINDS_NOT_EVALUATED, partsNotEvaluated, WHOLE_KIND } from './parts-not-evaluated.ts'

/** A policy on a cluster and its results for the fleet's objects. */
export interface CoveredPolicy {
  readonly cluster: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly origin: SourceLine
  /** The parts of it that are never evaluated: `kind`, or parts of its rules. */
  readonly notEvaluated: readonly string[]
  /** Its rules or bindings that apply to at least one object, sorted. */
  readonly rules: readonly RuleCoverage[]
  /** The platform's exceptions that name it. */
  readonly exceptions: readonly { readonly name: string; readonly origin: SourceLine }[]
}

/** The number of fleet objects by the result of a rule. */
export interface RuleCoverage {
  readonly rule: string
  readonly passed: number
  readonly denied: number
  readonly warned: number
  readonly audited: number
  readonly notEvaluated: number
  /** The first reason why some objects are not evaluated. */
  readonly why: string
}

type Counts = { -readonly [K in keyof RuleCoverage]: RuleCoverage[K] }

/**
 * Every policy that the platform renders on the given clusters, with its results for each object as if it were created.
 * `tenants`: only their objects count.
 */
export function policyCoverage(
  fleet: Fleet,
  clusters: readonly string[],
  tenants?: ReadonlySet<string>,
): CoveredPolicy[] {
  const index = new FleetIndex(fleet)
  const policies = [...policyEngines.flatMap(({ kinds }) => kinds), ...KINDS_NOT_EVALUATED]
  const counted = new Map<string, Map<string, Counts>>()
  const add = (cluster: string, { policy, rule }: PolicyRuleName, field: NumberField, why = '') => {
    const key = JSON.stringify([cluster, policy.kind, policy.namespace, policy.name])
    const rules = counted.get(key) ?? new Map<string, Counts>()
    counted.set(key, rules)
    const counts = rules.get(rule) ?? { rule, passed: 0, denied: 0, warned: 0, audited: 0, notEvaluated: 0, why: '' }
    rules.set(rule, counts)
    counts[field]++
    if (counts.why === '') counts.why = why
  }
  for (const node of fleet.nodes) {
    const { cluster } = node
    if (!clusters.includes(cluster) || (tenants && !tenants.has(node.tenant ?? ''))) continue
    for (const object of node.objects) {
      const subject = { object, id: idOf(object), kind: kindOf(object), node }
      const answer = admissionOf(subject, { index, config: fleet.config }, one => add(cluster, one, 'passed'))
      for (const one of distinct(answer?.findings ?? [])) add(cluster, one, FIELDS[one.action])
      for (const one of distinct(answer?.notEvaluated ?? [])) add(cluster, one, 'notEvaluated', one.why)
    }
  }
  return clusters.flatMap(cluster => {
    const exceptions = policyEngines
      .flatMap(({ companions }) => companions)
      .flatMap(kind => index.platformAnywhere(cluster, kind))
    return policies
      .flatMap(kind => index.platformAnywhere(cluster, kind))
      .map(({ object }): CoveredPolicy => {
        const { kind, namespace, name } = idOf(object)
        const rules = counted.get(JSON.stringify([cluster, kind, namespace, name]))
        return {
          ...{ cluster, kind, namespace, name },
          origin: lineOf(object),
          notEvaluated: partsNotEvaluated({ kind: kindOf(object), object }).map(part =>
            part === WHOLE_KIND ? 'kind' : part,
          ),
          rules: [...(rules?.values() ?? [])].sort((a, b) => (a.rule < b.rule ? -1 : 1)),
          exceptions: exceptions.flatMap(({ object: one }) =>
            isAbout(one, namespace, name) ? [{ name: nameOf(one), origin: lineOf(one) }] : [],
          ),
        }
      })
  })
}

type NumberField = 'passed' | 'denied' | 'warned' | 'audited' | 'notEvaluated'
const FIELDS = { deny: 'denied', warn: 'warned', audit: 'audited' } as const

/** A rule counts once per object, even if several of its checks apply. */
function distinct<T extends PolicyRuleName>(list: readonly T[]): Iterable<T> {
  return new Map(
    list.map(one => [JSON.stringify([one.policy.kind, one.policy.namespace, one.policy.name, one.rule]), one]),
  ).values()
}

function isAbout({ root }: KubeObject, namespace: string, name: string): boolean {
  const full = namespace === '' ? name : `${namespace}/${name}`
  return [
    ['exceptions', 'policyName'],
    ['policyRefs', 'name'],
  ].some(([list, field]) => {
    const items = at(root, ['spec', list!])
    return items?.type === 'list' && items.items.some(item => [name, full].includes(stringAt(item, [field!]) ?? ''))
  })
}

function nameOf(object: KubeObject): string {
  const { namespace, name } = idOf(object)
  return `${namespace}/${name}`
}

function lineOf({ root }: KubeObject): SourceLine {
  const { repository, file, line } = root.origin
  return { repository, file, line }
}
