import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { evaluateRule, type RuleAnswer } from './evaluate-rule.ts'
import { failureAction } from './failure-action.ts'
import { type ContextValue, isFields, jsonText, valueAt } from './jmespath/values.ts'
import type { WrittenRule } from './policy-rules.ts'
import type { RuleRequest } from './rule-request.ts'
import { ruleWorld } from './rule-world.ts'

/**
 * Kyverno admits an update of an object that violated a rule before it, unless `allowExistingViolations` is false (validateOldObject of
 * pkg/engine/handlers/validation). Undefined: this does not apply.
 */
export function answerBefore(
  world: AdmissionWorld,
  rule: WrittenRule,
  asked: RuleRequest,
  request: AdmissionRequest,
): RuleAnswer {
  const block = rule.rule.get('validate')
  const isAllowed = valueAt(block, ['allowExistingViolations']) !== false && valueAt(block, ['cel']) === undefined
  if (!isAllowed || asked.operation !== 'UPDATE' || asked.old === undefined || !request.old) return undefined
  // Kyverno does not find that a rule with preconditions matched the object before
  if (failureAction(rule).toLowerCase() !== 'enforce' || rule.rule.has('preconditions')) return undefined
  if (['pattern', 'anyPattern'].some(key => hasVariables(valueAt(block, [key]))))
    return {
      status: 'unclear',
      why: 'allowExistingViolations: Kyverno compares the object before with a pattern of values after',
    }
  const { old, ...rest } = asked
  const context = contextBefore(asked.context, old)
  return evaluateRule(
    rule,
    { ...rest, ...NOBODY, operation: 'CREATE', object: old, context },
    ruleWorld(world, rule, request),
  )
}

/** Kyverno does not know who applied the object before, so that a rule about users did not match it. */
const NOBODY = {
  user: { name: 'kyverno:kyverno-invalid-controller', groups: ['kyverno:invalidgroup'] },
  roles: ['kyverno:invalidrole'],
  clusterRoles: ['kyverno:invalidrole'],
}

const hasVariables = (pattern: ContextValue | undefined) => pattern !== undefined && jsonText(pattern).includes('{{')

function contextBefore(context: RuleRequest['context'], old: ContextValue): RuleRequest['context'] {
  const request = context.get('request')
  if (!isFields(request)) return context
  const before = new Map([...request, ['operation', 'CREATE'], ['object', old], ['oldObject', null]])
  return new Map([...context, ['request', before]])
}
