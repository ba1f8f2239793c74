import { at, type Node, stringAt } from '../../kube/node.ts'
import { type ContextValue, fromNode, isList, textAt, valueAt } from './jmespath/values.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import type { WrittenRule } from './policy-rules.ts'
import type { RuleRequest } from './rule-request.ts'
import { matchesLabels } from './selection.ts'

/** What Kyverno does with a rule that fails. Undefined: it cannot be decided here. */
export function isEnforced({ policy, rule }: WrittenRule, request: RuleRequest): boolean | undefined {
  const spec = at(policy.root, ['spec'])
  if (!isAtAdmission(spec)) return false
  const validate = rule.get('validate')
  const own = overrideOf(valueAt(validate, ['failureActionOverrides']), request)
  if (own !== 'none') return own
  const action = textAt(validate, ['failureAction'])
  if (action !== '') return isEnforce(action)
  const written = at(spec, ['validationFailureActionOverrides'])
  const ofPolicy = overrideOf(written && fromNode(written), request)
  if (ofPolicy !== 'none') return ofPolicy
  return isEnforce(stringAt(spec, ['validationFailureAction']) ?? 'Audit')
}

/** A rule of the policy that enforces makes Kyverno refuse what another of its rules cannot be evaluated for. */
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

/** A policy with `admission: false` is for reports in the background only. */
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
