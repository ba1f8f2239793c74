import type { KubeObject } from '../../kube/object.ts'
import type { AddressEngine, PolicyQuestion } from '../engine.ts'
import { isMatched } from '../native/is-matched.ts'
import { actionOf, bindingsOf, boundParams, NATIVE_POLICY } from '../native/native-engine.ts'
import { type CelPolicy, celPolicy } from '../native/native-policy.ts'
import { addressAnswer } from './address-answer.ts'
import { type AddressVerdict, addressRequest, refusesAddress } from './refuses-address.ts'

/** The checks of ValidatingAdmissionPolicies and their bindings that read the address of a source; ignores what they check in other fields. */
export const nativeAddresses: AddressEngine = {
  evaluate(index, question) {
    const asked = addressRequest(index, question)
    const [world, request] = asked
    const answers = world.policies(NATIVE_POLICY).flatMap(object => {
      const policy = celPolicy(object)
      const matched = policy.constraints ? isMatched(world, policy.constraints, request) : false
      if (matched === false) return []
      return (bindingsOf(world).get(policy.name) ?? []).flatMap(binding =>
        bound(policy, binding, asked, question, matched).flatMap(verdict =>
          verdict ? [addressAnswer(policy, verdict, question, actionOf(binding))] : [],
        ),
      )
    })
    return {
      findings: answers.flatMap(({ findings }) => findings),
      notEvaluated: answers.flatMap(({ notEvaluated }) => notEvaluated),
    }
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
