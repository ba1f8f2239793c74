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

/** What evaluates the policies of some kinds that a fleet's platform renders: one folder of src/admission, and one entry below. */
export interface PolicyEngine {
  readonly name: string
  /** The kinds of its policies, `<group>/<Kind>`. */
  readonly kinds: readonly string[]
  /** Kinds that decide with the policies what these say: bindings and exceptions. */
  readonly companions: readonly string[]
  /** What its policies say about a request. Pure; whatever a policy holds, it never throws. */
  evaluate(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer
}

/** Every engine, in the order of what they say. */
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

/** Whether a cluster has policies at all: most have none, and then nothing else is asked. */
export function hasPolicies(world: AdmissionWorld): boolean {
  return policyEngines.some(({ kinds }) => kinds.some(kind => world.policies(kind).length > 0))
}

/** What every policy of a cluster says about a request. Pure; never throws, whatever a policy holds. */
export function evaluateAdmission(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer {
  const answers = policyEngines.map(engine => engine.evaluate(world, request))
  return {
    findings: answers.flatMap(({ findings }) => findings),
    notEvaluated: answers.flatMap(({ notEvaluated }) => notEvaluated),
  }
}
