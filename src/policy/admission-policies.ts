import type { FleetIndex } from '../facts/fleet-index.ts'
import { namespaceLabels } from '../facts/namespace-labels.ts'
import type { Subject } from '../facts/subject.ts'
import { fluxKind } from '../flux/kinds.ts'
import { readLabelSelector, selects } from '../kube/label-selector.ts'
import { at, type Json, type Node, stringAt, toJson } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { textsOf } from '../kube/read-text.ts'
import { type CelQuestion, refusesByCel } from './cel/refuses-by-cel.ts'

/** A policy in CEL that refuses an object because of its address. */
interface Refusal {
  readonly policy: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly message: string
  readonly enforces: boolean
}

const ADMISSION = 'admissionregistration.k8s.io'

/**
 * The ValidatingAdmissionPolicies (with their bindings) and Kyverno's ValidatingPolicies of the platform that refuse an
 * object, whatever of these spellings its address has. `field`: where the address is, as `object.spec.url`. What they say
 * about other fields is not asked, and what cannot be worked out here is left to the cluster.
 */
export function admissionRefusals(
  index: FleetIndex,
  subject: Subject,
  field: string,
  spellings: readonly string[],
): Refusal[] {
  const { cluster } = subject.node
  const of = (kind: string) => index.platformAnywhere(cluster, kind).map(({ object }) => object)
  const bindings = of(`${ADMISSION}/ValidatingAdmissionPolicyBinding`)
  const refuses = (policy: KubeObject, params: Json | undefined) =>
    spellings.every(address => isRefused(index, policy, subject, { field, address, params }))
  const native = of(`${ADMISSION}/ValidatingAdmissionPolicy`).flatMap(policy =>
    bindings.flatMap(binding => {
      const actions = textsOf(at(binding.root, ['spec', 'validationActions'])) ?? []
      if (stringAt(binding.root, ['spec', 'policyName']) !== idOf(policy).name) return []
      const selected = at(binding.root, ['spec', 'matchResources'])
      if (selected && !isMatched(index, selected, subject, false)) return []
      return refuses(policy, paramsOf(index, binding, subject)) ? [refusalOf(policy, actions.includes('Deny'))] : []
    }),
  )
  const kyvernos = of('policies.kyverno.io/ValidatingPolicy').flatMap(policy => {
    const actions = textsOf(at(policy.root, ['spec', 'validationActions'])) ?? []
    return refuses(policy, undefined) ? [refusalOf(policy, actions.length === 0 || actions.includes('Deny'))] : []
  })
  return [...native, ...kyvernos]
}

function refusalOf(policy: KubeObject, enforces: boolean): Refusal {
  const { kind, namespace, name } = idOf(policy)
  const messages = itemsOf(policy, 'validations').map(one => stringAt(one, ['message']) ?? '')
  return { policy: { kind, namespace, name }, message: messages.find(one => one !== '') ?? '', enforces }
}

const itemsOf = (policy: KubeObject, field: string): readonly Node[] => {
  const list = at(policy.root, ['spec', field])
  return list?.type === 'list' ? list.items : []
}

function isRefused(index: FleetIndex, policy: KubeObject, subject: Subject, question: CelQuestion): boolean {
  const constraints = at(policy.root, ['spec', 'matchConstraints'])
  if (!constraints || !isMatched(index, constraints, subject, true)) return false
  const [conditions, variables, validations] = ['matchConditions', 'variables', 'validations'].map(field =>
    itemsOf(policy, field),
  )
  return refusesByCel(index, subject, question, { conditions, variables, validations })
}

/** `matchConstraints` or `matchResources`; without rules a binding takes what the policy takes. */
function isMatched(index: FleetIndex, match: Node, { object, id, kind, node }: Subject, needsRule: boolean): boolean {
  const labels = namespaceLabels(index, node.cluster, id.namespace)
  const own = at(object.root, ['metadata', 'labels'])
  const written = new Map<string, string>()
  if (own?.type === 'map') for (const key of own.fields.keys()) written.set(key, stringAt(own, [key]) ?? '')
  const selectors: [string, ReadonlyMap<string, string>][] = [
    ['namespaceSelector', labels],
    ['objectSelector', written],
  ]
  for (const [key, given] of selectors) {
    const selector = at(match, [key])
    const read = selector && readLabelSelector(selector)
    if (selector && (!read || !selects(read, given))) return false
  }
  const rules = at(match, ['resourceRules'])
  const excluded = at(match, ['excludeResourceRules'])
  const covers = (list: Node | undefined) => list?.type === 'list' && list.items.some(rule => isCovered(rule, kind))
  if (covers(excluded)) return false
  return rules?.type === 'list' && rules.items.length > 0 ? covers(rules) : !needsRule
}

function isCovered(rule: Node, kind: string): boolean {
  const slash = kind.lastIndexOf('/')
  const [groups, resources, operations] = ['apiGroups', 'resources', 'operations'].map(
    key => textsOf(at(rule, [key])) ?? [],
  )
  const names = textsOf(at(rule, ['resourceNames'])) ?? []
  const plural = fluxKind(kind)?.plural ?? ''
  if (names.length > 0 || !operations!.some(one => ['*', 'CREATE', 'UPDATE'].includes(one))) return false
  const group = kind.slice(0, slash)
  return groups!.some(one => one === '*' || one === group) && resources!.some(one => ['*', '*/*', plural].includes(one))
}

/** The object that a binding hands to the policy. */
function paramsOf(index: FleetIndex, binding: KubeObject, { id, node }: Subject): Json | undefined {
  const reference = at(binding.root, ['spec', 'paramRef'])
  const name = stringAt(reference, ['name'])
  if (!name) return undefined
  const namespace = stringAt(reference, ['namespace']) || id.namespace
  const found = index.platformObject(node.cluster, '/ConfigMap', namespace, name)
  return found && toJson(found.root)
}
