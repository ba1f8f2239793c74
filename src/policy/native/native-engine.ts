import { at, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-text.ts'
import type {
  AdmissionAnswer,
  AdmissionFinding,
  AdmissionRequest,
  NotEvaluated,
} from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { evaluatePolicy, type PolicyVerdict } from './evaluate-policy.ts'
import { isMatched } from './is-matched.ts'
import { type CelPolicy, celPolicy } from './native-policy.ts'
import { paramsOf } from './params-of.ts'

export const NATIVE_POLICY = 'admissionregistration.k8s.io/ValidatingAdmissionPolicy'
export const NATIVE_BINDING = 'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding'

/** What Kubernetes' ValidatingAdmissionPolicies say about a request; a policy without a binding says nothing. */
export function evaluateNative(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer {
  const policies = world.policies(NATIVE_POLICY)
  const findings: AdmissionFinding[] = []
  const notEvaluated: NotEvaluated[] = []
  if (policies.length === 0) return { findings, notEvaluated }
  const bindings = bindingsOf(world)
  for (const object of policies) {
    const bound = bindings.get(idOf(object).name) ?? []
    if (bound.length === 0) continue
    const policy = celPolicy(object)
    // a policy without constraints is none that the API server accepts
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

const byPolicy = new WeakMap<readonly KubeObject[], ReadonlyMap<string, readonly KubeObject[]>>()

/** Bindings by the name of their policy. */
function bindingsOf(world: AdmissionWorld): ReadonlyMap<string, readonly KubeObject[]> {
  const bindings = world.policies(NATIVE_BINDING)
  const known = byPolicy.get(bindings)
  if (known) return known
  const made = new Map<string, KubeObject[]>()
  for (const binding of bindings) {
    const name = stringAt(binding.root, ['spec', 'policyName']) ?? ''
    made.set(name, [...(made.get(name) ?? []), binding])
  }
  byPolicy.set(bindings, made)
  return made
}
