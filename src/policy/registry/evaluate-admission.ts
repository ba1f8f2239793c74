import type { AdmissionAnswer, AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { evaluateKyverno } from '../kyverno/evaluate-kyverno.ts'
import { CLUSTER_POLICY, POLICY } from '../kyverno/policy-rules.ts'
import { evaluateNative, NATIVE_POLICY } from '../native/native-engine.ts'
import { evaluateValidating, NAMESPACED_VALIDATING_POLICY, VALIDATING_POLICY } from '../validating/validating-engine.ts'

type AdmissionEngine = (world: AdmissionWorld, request: AdmissionRequest) => AdmissionAnswer

/** The engines, with the kinds of policies that each evaluates. */
const ENGINES: readonly { readonly kinds: readonly string[]; readonly evaluate: AdmissionEngine }[] = [
  { kinds: [CLUSTER_POLICY, POLICY], evaluate: evaluateKyverno },
  { kinds: [NATIVE_POLICY], evaluate: evaluateNative },
  { kinds: [VALIDATING_POLICY, NAMESPACED_VALIDATING_POLICY], evaluate: evaluateValidating },
]

/** Whether a cluster has policies at all: most have none, and then nothing else is asked. */
export function hasPolicies(world: AdmissionWorld): boolean {
  return ENGINES.some(({ kinds }) => kinds.some(kind => world.policies(kind).length > 0))
}

/** What every policy of a cluster says about a request. Pure; never throws, whatever a policy holds. */
export function evaluateAdmission(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer {
  const answers = ENGINES.map(({ evaluate }) => evaluate(world, request))
  return {
    findings: answers.flatMap(({ findings }) => findings),
    notEvaluated: answers.flatMap(({ notEvaluated }) => notEvaluated),
  }
}
