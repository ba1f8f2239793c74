import type { AdmissionAnswer, AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { policyEngines } from './policy-engines.ts'

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
