import type { FleetIndex } from '../../facts/fleet-index.ts'
import { addressEngine } from '../addresses/address-engine.ts'
import type { PolicyAnswer, PolicyEngine, PolicyQuestion } from '../engine.ts'
import { kyvernoEngine } from '../kyverno/kyverno-engine.ts'

/** Every engine, in the order of what they say. */
export const policyEngines: readonly PolicyEngine[] = [kyvernoEngine, addressEngine]

/** What all policies of the fleet say. */
export function askPolicies(
  index: FleetIndex,
  question: PolicyQuestion,
  engines: readonly PolicyEngine[] = policyEngines,
): PolicyAnswer {
  const answers = engines.map(engine => engine.evaluate(index, question))
  return {
    findings: answers.flatMap(({ findings }) => findings),
    notEvaluated: answers.flatMap(({ notEvaluated }) => notEvaluated),
  }
}
