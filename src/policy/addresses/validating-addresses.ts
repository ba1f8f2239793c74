import type { AddressEngine } from '../engine.ts'
import { validatingPolicies, validatingScope } from '../validating/validating-engine.ts'
import { addressAnswer } from './address-answer.ts'
import { addressRequest, refusesAddress } from './refuses-address.ts'

/** The checks of Kyverno's ValidatingPolicies that read the address of a source; ignores what they check in other fields. */
export const validatingAddresses: AddressEngine = {
  evaluate(index, question) {
    const asked = addressRequest(index, question)
    const answers = validatingPolicies(...asked).flatMap(({ policy, action }) => {
      const scope = validatingScope(policy, ...asked)
      const verdicts =
        'names' in scope
          ? [refusesAddress(policy, asked, question, null, scope.names)]
          : scope.verdicts.filter(verdict => 'unclear' in verdict)
      return verdicts.flatMap(verdict => (verdict ? [addressAnswer(policy, verdict, question, action)] : []))
    })
    return {
      findings: answers.flatMap(({ findings }) => findings),
      notEvaluated: answers.flatMap(({ notEvaluated }) => notEvaluated),
    }
  },
}
