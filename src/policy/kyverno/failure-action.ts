import { at, type Node, stringAt } from '../../kube/node.ts'
import { type ContextValue, fromNode, isList, textAt, valueAt } from './jmespath/values.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import type { WrittenRule } from './policy-rules.ts'
import type { RuleRequest } from './rule-request.ts'
import { matchesLabels } from './selection.ts'

/** Whether Kyverno denies a request that fails the rule. Undefined if the fleet does not determine it. */
export function isEnforced(one: WrittenRule, request: RuleRequest): boolean | undefined {
  const { policy, rule } = one
  const spec = at(policy.root, ['spec'])
  if (!isAtAdmission(spec)) return false
  const validate = rule.get('validate')
  const own = overrideOf(valueAt(validate, ['failureActionOverrides']), request)
  if (own !== 'none') return own
  if (textAt(validate, ['failureAction']) !== '') return isEnforce(failureAction(one))
  const written = at(spec, ['validationFailureActionOverrides'])
  const ofPolicy = overrideOf(written && fromNode(written), request)
  if (ofPolicy !== 'none') return ofPolicy
  return isEnforce(failureAction(one))
}

/** `failureAction` of a rule, or else that of its policy, without overrides. */
export function failureAction({ policy, rule }: WrittenRule): string {
  const own = textAt(rule.get('validate'), ['failureAction'])
  return own || (stringAt(policy.root, ['spec', 'validationFailureAction']) ?? 'Audit')
}

/** If any rule of the policy enforces, Kyverno denies a request for which another rule of it cannot be evaluated. */
export function failsClosed(
  rules: readonly WrittenRule[],
  one: WrittenRule,
  request: RuleRequest,
): boolean | undefined {
  const spec = at(one.policy.root, ['spec'])
  const policy =
    stringAt(spec, ['webhookConfiguration', 'failurePolicy']) ?? stringAt(spec, ['failurePolicy']) ?? 'Fail'
  if (policy === 'Ignore') return false
  const answers = rules.filter(rule => rule.policy === one.policy).map(rule => isEnforced(rule, request))
  return answers.includes(true) || (answers.includes(undefined) ? undefined : false)
}

const isEnforce = (action: string) => action.toLowerCase() === 'enforce'

/** A policy with `admission: false` applies only to background reports. */
function isAtAdmission(spec: Node | undefined): boolean {
  const admission = at(spec, ['admission'])
  return !(admission?.type === 'scalar' && admission.value === false)
}

function overrideOf(list: ContextValue | undefined, request: RuleRequest): boolean | undefined | 'none' {
  for (const one of isList(list) ? list : []) {
    const action = textAt(one, ['action'])
    if (!/^(?:enforce|audit)$/i.test(action)) continue
    const namespaces = valueAt(one, ['namespaces']) ?? null
    const isNamed =
      !isList(namespaces) ||
      namespaces.some(pattern => typeof pattern === 'string' && matchesWildcard(pattern, request.namespace))
    if (!isNamed) continue
    const selector = valueAt(one, ['namespaceSelector'])
    const isMeant = selector === undefined || matchesLabels(selector, request.namespaceLabels)
    if (isMeant === undefined) return undefined
    if (isMeant) return isEnforce(action)
  }
  return 'none'
}
