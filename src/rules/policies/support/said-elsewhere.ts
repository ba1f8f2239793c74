import { addressOf, formOf } from '../../../facts/source-fields.ts'
import type { Subject } from '../../../facts/subject.ts'
import type { AdmissionFinding } from '../../../policy/admission/admission-request.ts'
import { askPolicies } from '../../../policy/registry/policy-engines.ts'
import type { RuleContext } from '../../model/rule.ts'

/** Whether the rule `source-url-allowlist` already reports what a policy says about the address of a source. */
export function saidElsewhere(subject: Subject, { index }: RuleContext): (finding: AdmissionFinding) => boolean {
  const found = addressOf(subject.kind, subject.object)
  if (!found || typeof found.address === 'string') return () => false
  const { path: field, written, address } = found
  const { findings } = askPolicies(index, { subject, field, written, address, form: formOf(subject.kind) })
  // that rule lets every spelling of an allowed address pass; what a policy refuses as it is written is said here
  return ({ policy, rule }) =>
    findings.some(
      one =>
        one.policy.kind === policy.kind &&
        one.policy.namespace === policy.namespace &&
        one.policy.name === policy.name &&
        (one.rule === '' || one.rule === rule),
    )
}
