import { oncePer } from '../../base/once-per.ts'
import type { CelValue } from '../../expr/values.ts'
import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { readLabelSelector, selects, textsOf } from '../../kube/read-fields.ts'
import {
  type AdmissionAnswer,
  type AdmissionFinding,
  type AdmissionRequest,
  type AdmissionWorld,
  type NotEvaluated,
  requestNamespace,
} from './admission-request.ts'
import { type CelPolicy, celPolicy, evaluatePolicy, type PolicyVerdict } from './native-policy.ts'
import { type KnownLabels, labelsOf, namespaceLabelsOf, objectValueIn } from './request-value.ts'

export const NATIVE_POLICY = 'admissionregistration.k8s.io/ValidatingAdmissionPolicy'
export const NATIVE_BINDING = 'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding'

/** The answer of Kubernetes' ValidatingAdmissionPolicies to a request; a policy without a binding has none. */
export function evaluateNative(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer {
  const policies = world.policies(NATIVE_POLICY)
  const findings: AdmissionFinding[] = []
  const notEvaluated: NotEvaluated[] = []
  if (policies.length === 0) return { findings, notEvaluated }
  const bindings = byPolicy(world.policies(NATIVE_BINDING))
  for (const object of policies) {
    const bound = bindings.get(idOf(object).name) ?? []
    if (bound.length === 0) continue
    const policy = celPolicy(object)
    // the API server accepts no policy without constraints
    const matched = policy.constraints ? isMatched(world, policy.constraints, request) : false
    if (matched === false) continue
    for (const binding of bound) {
      if (typeof matched === 'string')
        notEvaluated.push({ ...nameOf(policy), origin: object.root.origin, why: matched })
      else take(policy, binding, world, request, findings, notEvaluated)
    }
  }
  return { findings, notEvaluated }
}

function take(
  policy: CelPolicy,
  binding: KubeObject,
  world: AdmissionWorld,
  request: AdmissionRequest,
  findings: AdmissionFinding[],
  notEvaluated: NotEvaluated[],
): void {
  const passed = request.passed && (() => request.passed?.({ ...nameOf(policy), rule: idOf(binding).name }))
  const asked = passed ? { ...request, passed } : request
  for (const verdict of verdictsOf(policy, binding, world, asked)) {
    if ('unclear' in verdict) {
      notEvaluated.push({ ...nameOf(policy), origin: verdict.origin, why: verdict.unclear })
      continue
    }
    const action = actionOf(binding)
    const { refused: message, field, origin, check } = verdict
    findings.push({
      ...nameOf(policy),
      rule: idOf(binding).name,
      field,
      origin,
      message,
      action,
      by: 'Kubernetes',
      check,
    })
  }
}

/** The action of a binding when its policy denies. */
function actionOf({ root }: KubeObject): AdmissionFinding['action'] {
  const actions = textsOf(at(root, ['spec', 'validationActions'])) ?? []
  return actions.includes('Deny') ? 'deny' : actions.includes('Warn') ? 'warn' : 'audit'
}

function verdictsOf(
  policy: CelPolicy,
  binding: KubeObject,
  world: AdmissionWorld,
  request: AdmissionRequest,
): readonly PolicyVerdict[] {
  const matched = isMatched(world, at(binding.root, ['spec', 'matchResources']), request)
  if (matched === false) return []
  const params = matched === true ? paramsOf(world, policy.object, binding, request) : matched
  if (typeof params === 'string') return [{ unclear: params, origin: binding.root.origin }]
  return params.flatMap(one => evaluatePolicy(policy, world, request, one))
}

const nameOf = ({ kind, namespace, name }: CelPolicy) => ({ policy: { kind, namespace, name }, rule: '' })

/** Bindings by the name of their policy. */
const byPolicy = oncePer((bindings: readonly KubeObject[]): ReadonlyMap<string, readonly KubeObject[]> => {
  const made = new Map<string, KubeObject[]>()
  for (const binding of bindings) {
    const name = stringAt(binding.root, ['spec', 'policyName']) ?? ''
    made.set(name, [...(made.get(name) ?? []), binding])
  }
  return made
})

/** Whether a policy applies to a request; a text: why that is not known. */
type Matched = boolean | string

/** Kinds that admission policies never see, so that administrators cannot lock themselves out. */
const EXEMPT = /^(?:validating|mutating)(?:webhookconfigurations|admissionpolicies|admissionpolicybindings)$/

/**
 * `matchConstraints` of a policy, or `matchResources` of a binding; without rules everything matches, as for a binding
 * (k8s.io/apiserver pkg/admission/plugin/policy/matching).
 */
export function isMatched(world: AdmissionWorld, match: Node | undefined, request: AdmissionRequest): Matched {
  const group = groupOf(request.id.apiVersion)
  if (group === 'admissionregistration.k8s.io' && EXEMPT.test(request.resource)) return false
  if (!match) return true
  const isEquivalent = (stringAt(match, ['matchPolicy']) ?? 'Equivalent') !== 'Exact'
  const rules = itemsOf(at(match, ['resourceRules']))
  if (itemsOf(at(match, ['excludeResourceRules'])).some(rule => covers(rule, request, isEquivalent))) return false
  const found = rules.filter(rule => covers(rule, request, isEquivalent))
  if (rules.length > 0 && found.length === 0) return false
  const selected = isSelected(world, match, request)
  if (selected !== true || rules.length === 0 || found.some(rule => covers(rule, request, false))) return selected
  return `the API server converts ${request.id.apiVersion} to the version that the policy names`
}

/** Both selectors. */
function isSelected(world: AdmissionWorld, match: Node, request: AdmissionRequest): Matched {
  const ofNamespace = namespaceLabelsOf(world, request)
  // the selector is not evaluated for cluster-scoped objects
  const namespaced = ofNamespace ? bySelector(at(match, ['namespaceSelector']), [ofNamespace]) : true
  if (namespaced === false) return false
  const sides = [request.object, ...(request.old ? [request.old] : [])]
  const object = bySelector(
    at(match, ['objectSelector']),
    sides.map(side => ({ labels: labelsOf(side), isComplete: true })),
  )
  return object === true ? namespaced : object
}

function bySelector(node: Node | undefined, sides: readonly KnownLabels[]): Matched {
  if (!node) return true
  const selector = readLabelSelector(node)
  if (!selector) return 'its selector is not one that the API server accepts'
  const unclear = sides.some(({ labels, isComplete }) => !isComplete && selector.some(({ key }) => !labels.has(key)))
  if (unclear) return 'it selects by labels of a Namespace that is not in the fleet'
  return sides.some(({ labels }) => selects(selector, labels))
}

function covers(rule: Node, request: AdmissionRequest, isEquivalent: boolean): boolean {
  const { id, operation, resource, isNamespaced } = request
  const [groups, versions, resources, operations, names] = [
    'apiGroups',
    'apiVersions',
    'resources',
    'operations',
    'resourceNames',
  ].map(key => textsOf(at(rule, [key])) ?? [])
  const group = groupOf(id.apiVersion)
  const version = id.apiVersion.slice(group === '' ? 0 : group.length + 1)
  const scope = stringAt(rule, ['scope']) ?? '*'
  const isClusterWide = !isNamespaced || resource === 'namespaces'
  const has = (list: readonly string[] | undefined, one: string) => list!.includes('*') || list!.includes(one)
  return (
    (scope === '*' || (scope === 'Cluster') === isClusterWide) &&
    has(operations, operation) &&
    has(groups, group) &&
    (isEquivalent || has(versions, version)) &&
    resources!.some(one => ['*', '*/*', resource, `${resource}/*`].includes(one)) &&
    (names!.length === 0 || names!.includes(id.name))
  )
}

/**
 * The objects of parameters that a binding hands to a policy, one evaluation each (CollectParams of k8s.io/apiserver
 * pkg/admission/plugin/policy/generic); a text: why they are not known. Parameters that the fleet does not render may be on the
 * cluster all the same, so parameterNotFoundAction decides nothing here.
 */
export function paramsOf(
  world: AdmissionWorld,
  policy: KubeObject,
  binding: KubeObject,
  request: AdmissionRequest,
): readonly CelValue[] | string {
  const paramKind = at(policy.root, ['spec', 'paramKind'])
  const reference = at(binding.root, ['spec', 'paramRef'])
  if (!paramKind || !reference) return [null]
  const kind = `${groupOf(stringAt(paramKind, ['apiVersion']) ?? '')}/${stringAt(paramKind, ['kind']) ?? ''}`
  const objects = found(world, kind, reference, request)
  return objects.length > 0
    ? objects.map(object => objectValueIn(world, object))
    : 'the fleet does not render the parameters of its binding'
}

function found(
  world: AdmissionWorld,
  kind: string,
  reference: NonNullable<ReturnType<typeof at>>,
  request: AdmissionRequest,
): readonly KubeObject[] {
  const named = stringAt(reference, ['namespace']) ?? ''
  const namespace = named || requestNamespace(request)
  const name = stringAt(reference, ['name'])
  if (name) {
    const object = world.object(kind, namespace, name) ?? world.object(kind, '', name)
    return object ? [object] : []
  }
  const written = at(reference, ['selector'])
  const selector = written && readLabelSelector(written)
  if (!selector) return []
  const candidates = [...world.objects(kind, namespace), ...(namespace ? world.objects(kind, '') : [])]
  return candidates.filter(object => selects(selector, labelsOf(object)))
}
