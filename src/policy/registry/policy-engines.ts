import type { FleetIndex } from '../../facts/fleet-index.ts'
import { nativeAddresses } from '../addresses/native-addresses.ts'
import { validatingAddresses } from '../addresses/validating-addresses.ts'
import type { AdmissionAnswer, AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import type { AddressEngine, PolicyAnswer, PolicyQuestion } from '../engine.ts'
import { evaluateKyverno } from '../kyverno/evaluate-kyverno.ts'
import { kyvernoEngine } from '../kyverno/kyverno-engine.ts'
import { CLUSTER_POLICY, POLICY } from '../kyverno/policy-rules.ts'
import { evaluateNative, NATIVE_BINDING, NATIVE_POLICY } from '../native/native-engine.ts'
import {
  evaluateValidating,
  NAMESPACED_VALIDATING_POLICY,
  VALIDATING_EXCEPTION,
  VALIDATING_POLICY,
} from '../validating/validating-engine.ts'

/** What evaluates the policies of some kinds that a fleet's platform renders: one folder of src/policy, and one entry below. */
export interface PolicyEngine {
  readonly name: string
  /** The kinds of its policies, `<group>/<Kind>`. */
  readonly kinds: readonly string[]
  /** Kinds that decide with the policies what these say: bindings and exceptions. */
  readonly companions: readonly string[]
  /** What its policies say about a request. Pure; whatever a policy holds, it never throws. */
  evaluate(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer
  /** Absent: an address counts only as it is written. */
  readonly addresses?: AddressEngine
}

/** Every engine, in the order of what they say. */
export const policyEngines: readonly PolicyEngine[] = [
  {
    name: 'kyverno',
    kinds: [CLUSTER_POLICY, POLICY],
    companions: ['kyverno.io/PolicyException'],
    evaluate: evaluateKyverno,
    addresses: kyvernoEngine,
  },
  {
    name: 'native',
    kinds: [NATIVE_POLICY],
    companions: [NATIVE_BINDING],
    evaluate: evaluateNative,
    addresses: nativeAddresses,
  },
  {
    name: 'validating',
    kinds: [VALIDATING_POLICY, NAMESPACED_VALIDATING_POLICY],
    companions: [VALIDATING_EXCEPTION],
    evaluate: evaluateValidating,
    addresses: validatingAddresses,
  },
]

/** What all policies of the fleet say about the address of a source. */
export function askPolicies(
  index: FleetIndex,
  question: PolicyQuestion,
  engines: readonly PolicyEngine[] = policyEngines,
): PolicyAnswer {
  const answers = engines.flatMap(({ addresses }) => (addresses ? [addresses.evaluate(index, question)] : []))
  return {
    findings: answers.flatMap(({ findings }) => findings),
    notEvaluated: answers.flatMap(({ notEvaluated }) => notEvaluated),
  }
}
