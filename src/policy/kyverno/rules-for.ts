import { idOf } from '../../kube/object.ts'
import type { Origin } from '../../origin.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import type { PolicyRuleName } from '../engine.ts'
import { appliesRule, evaluateRule, type RuleAnswer } from './evaluate-rule.ts'
import { isEnforced } from './failure-action.ts'
import { isFiltered, isSeen } from './is-seen.ts'
import { textAt } from './jmespath/values.ts'
import { kyvernoSettings } from './kyverno-settings.ts'
import { policyRules, type WrittenRule } from './policy-rules.ts'
import { ruleRequestOf } from './rule-request-of.ts'
import { ruleWorld } from './rule-world.ts'

/** A validating rule of a Kyverno policy of the fleet that speaks about an object. */
export interface KyvernoRule extends PolicyRuleName {
  readonly origin: Origin
  readonly written: WrittenRule
  readonly message: string
  /** Whether it refuses; else it only reports. */
  readonly enforces: boolean
  /** Why it is not known whether it speaks about the object. */
  readonly why?: string
  /** Evaluates the rule for the object as it is. */
  readonly evaluate: () => RuleAnswer
}

/** The rules of platform policies that apply, or may apply, when an object is created or updated. */
export function rulesFor(world: AdmissionWorld, request: AdmissionRequest): KyvernoRule[] {
  const asked = ruleRequestOf(world, request)
  if (isFiltered(kyvernoSettings(world), asked) || isSeen(world, request, asked) === false) return []
  const updated = ruleRequestOf(world, { ...request, operation: 'UPDATE', old: request.object })
  return policyRules(world, asked).flatMap((one): KyvernoRule[] => {
    const { kind, namespace, name } = idOf(one.policy)
    const answers = [asked, updated].map(at => appliesRule(one, at, ruleWorld(world, one, request)))
    const isMeant = answers.some(answer => answer?.status === 'pass')
    const unclear = answers.find(answer => answer?.status === 'unclear' || answer?.status === 'error')
    if (!isMeant && !unclear) return []
    const enforces = isEnforced(one, asked)
    const why = isMeant
      ? enforces === undefined && 'failureActionOverrides selects by labels'
      : unclear && ('why' in unclear ? unclear.why : 'message' in unclear && unclear.message)
    return [
      {
        policy: { kind, namespace, name },
        rule: one.writtenName,
        origin: one.origin,
        written: one,
        message: textAt(one.rule, ['validate', 'message']),
        enforces: enforces === true,
        evaluate: () =>
          evaluateRule(one, answers[0]?.status === 'pass' ? asked : updated, ruleWorld(world, one, request)),
        ...(why ? { why } : {}),
      },
    ]
  })
}
