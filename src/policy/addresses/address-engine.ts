import type { KubeObject } from '../../kube/object.ts'
import type { NotEvaluated, PolicyAnswer, PolicyEngine, PolicyFinding, PolicyQuestion } from '../engine.ts'
import { isMatched } from '../native/is-matched.ts'
import { actionOf, bindingsOf, boundParams, NATIVE_POLICY } from '../native/native-engine.ts'
import { type CelPolicy, celPolicy } from '../native/native-policy.ts'
import {
  NAMESPACED_VALIDATING_POLICY,
  VALIDATING_POLICY,
  validatingPolicies,
  validatingScope,
} from '../validating/validating-engine.ts'
import { type AddressVerdict, addressRequest, refusesAddress } from './refuses-address.ts'

/**
 * Evaluates CEL policies that check the URL of a source: Kubernetes ValidatingAdmissionPolicies with their bindings, and
 * Kyverno ValidatingPolicies. Ignores what they check in other fields.
 */
export const addressEngine: PolicyEngine = {
  name: 'cel',
  kinds: [NATIVE_POLICY, VALIDATING_POLICY, NAMESPACED_VALIDATING_POLICY],
  evaluate(index, question) {
    const asked = addressRequest(index, question)
    const [world, request] = asked
    const [findings, notEvaluated]: [PolicyFinding[], NotEvaluated[]] = [[], []]
    const take = (policy: CelPolicy, verdict: AddressVerdict, action: PolicyFinding['action']) => {
      const answer = verdict ? said(policy, verdict, question, action) : undefined
      findings.push(...(answer?.findings ?? []))
      notEvaluated.push(...(answer?.notEvaluated ?? []))
    }
    for (const object of world.policies(NATIVE_POLICY)) {
      const policy = celPolicy(object)
      const matched = policy.constraints ? isMatched(world, policy.constraints, request) : false
      if (matched === false) continue
      for (const binding of bindingsOf(world).get(policy.name) ?? []) {
        for (const verdict of bound(policy, binding, asked, question, matched)) take(policy, verdict, actionOf(binding))
      }
    }
    for (const { policy, action } of validatingPolicies(world, request)) {
      const scope = validatingScope(policy, world, request)
      if ('names' in scope) take(policy, refusesAddress(policy, asked, question, null, scope.names), action)
      else for (const verdict of scope.verdicts) if ('unclear' in verdict) take(policy, verdict, action)
    }
    return { findings, notEvaluated }
  },
}

function bound(
  policy: CelPolicy,
  binding: KubeObject,
  asked: ReturnType<typeof addressRequest>,
  question: PolicyQuestion,
  matched: true | string,
): readonly AddressVerdict[] {
  const params = boundParams(policy, binding, ...asked)
  if (params === undefined) return []
  if (typeof params === 'string') return [{ unclear: params }]
  const verdicts = params.map(one => refusesAddress(policy, asked, question, one))
  return matched === true ? verdicts : verdicts.map(verdict => verdict && { unclear: matched })
}

function said(
  { kind, namespace, name, object: { root } }: CelPolicy,
  verdict: NonNullable<AddressVerdict>,
  { subject, field }: PolicyQuestion,
  action: PolicyFinding['action'],
): PolicyAnswer {
  const rule = { policy: { kind, namespace, name }, rule: '', origin: root.origin }
  if ('unclear' in verdict) return { findings: [], notEvaluated: [{ ...rule, why: verdict.unclear }] }
  const by = kind === 'ValidatingAdmissionPolicy' ? 'Kubernetes' : 'Kyverno'
  const message = verdict.refused
  return { findings: [{ ...rule, object: subject.object, field, message, action, by }], notEvaluated: [] }
}
