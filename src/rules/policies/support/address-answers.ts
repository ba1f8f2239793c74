import { addressOf, formOf } from '../../../facts/source-fields.ts'
import type { Subject } from '../../../facts/subject.ts'
import type { AdmissionFinding } from '../../../policy/admission/admission-request.ts'
import { askPolicies } from '../../../policy/registry/policy-engines.ts'
import type { RuleContext } from '../../model/rule.ts'

const KYVERNO = ['ClusterPolicy', 'Policy']

/**
 * How a finding of a policy relates to the address of a source. `reported`: `source-url-allowlist` reports the same. `spelling`: the
 * policy allows the address, but not as it is written, because Kyverno compares texts. Undefined: it is about something else.
 */
export function addressAnswers(
  subject: Subject,
  { index }: RuleContext,
): (finding: AdmissionFinding) => 'reported' | 'spelling' | undefined {
  const found = addressOf(subject.kind, subject.object)
  if (!found || typeof found.address === 'string') return () => undefined
  const { path: field, written, address } = found
  const { findings } = askPolicies(index, { subject, field, written, address, form: formOf(subject.kind) })
  return ({ policy, rule, field: refused }) => {
    const isReported = findings.some(
      one =>
        one.policy.kind === policy.kind &&
        one.policy.namespace === policy.namespace &&
        one.policy.name === policy.name &&
        (one.rule === '' || one.rule === rule),
    )
    if (isReported) return 'reported'
    return KYVERNO.includes(policy.kind) && refused.join('/') === field.join('/') ? 'spelling' : undefined
  }
}
