import { work } from '../base/work.ts'
import type { AdmissionAnswer, AdmissionRequest, AdmissionWorld } from './admission/admission-request.ts'
import { evaluateNative, NATIVE_BINDING, NATIVE_POLICY } from './admission/native-engine.ts'
import { evaluateKyverno } from './kyverno/evaluate-kyverno.ts'
import { CLUSTER_POLICY, POLICY } from './kyverno/policy-rules.ts'
import {
  evaluateValidating,
  NAMESPACED_VALIDATING_POLICY,
  VALIDATING_EXCEPTION,
  VALIDATING_POLICY,
} from './kyverno/validating-engine.ts'

/** The evaluator of some kinds of policies that a fleet's platform renders: one folder of src/admission, one entry below. */
export interface PolicyEngine {
  readonly name: string
  /** The kinds of its policies, `<group>/<Kind>`. */
  readonly kinds: readonly string[]
  /** Kinds that affect the result of the policies: bindings and exceptions. */
  readonly companions: readonly string[]
  /** The answer of its policies to a request. Pure; never throws, whatever a policy contains. */
  evaluate(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer
}

/** Every engine, in the order of their answers. */
export const policyEngines: readonly PolicyEngine[] = [
  {
    name: 'kyverno',
    kinds: [CLUSTER_POLICY, POLICY],
    companions: ['kyverno.io/PolicyException'],
    evaluate: evaluateKyverno,
  },
  {
    name: 'native',
    kinds: [NATIVE_POLICY],
    companions: [NATIVE_BINDING],
    evaluate: evaluateNative,
  },
  {
    name: 'validating',
    kinds: [VALIDATING_POLICY, NAMESPACED_VALIDATING_POLICY],
    companions: [VALIDATING_EXCEPTION],
    evaluate: evaluateValidating,
  },
]

/** The answer of every policy of a cluster to a request. Pure; never throws, whatever a policy contains. */
export function evaluateAdmission(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer {
  work.admitted++
  const answers = policyEngines.map(engine => engine.evaluate(world, request))
  return {
    findings: answers.flatMap(({ findings }) => findings),
    notEvaluated: answers.flatMap(({ notEvaluated }) => notEvaluated),
  }
}
