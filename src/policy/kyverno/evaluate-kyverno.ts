import { type Path, stringAt } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import type { AdmissionAnswer, AdmissionFinding, AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import type { NotEvaluated } from '../engine.ts'
import { evaluateRule, type RuleAnswer } from './evaluate-rule.ts'
import { failsClosed, isEnforced } from './failure-action.ts'
import { fieldNamedBy } from './field-named-by.ts'
import { policyRules, type WrittenRule } from './policy-rules.ts'
import { isFiltered } from './resource-filters.ts'
import type { RuleRequest } from './rule-request.ts'
import { ruleRequestOf } from './rule-request-of.ts'
import { ruleWorld } from './rule-world.ts'
import { withValues } from './with-values.ts'

/** Evaluates the `validate` rules of Kyverno's ClusterPolicies and Policies for a request. */
export function evaluateKyverno(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer {
  const [findings, notEvaluated]: [AdmissionFinding[], NotEvaluated[]] = [[], []]
  const named = namesOf(request)
  const rules = policyRules(world, named)
  if (rules.length === 0 || isFiltered(world, named)) return { findings, notEvaluated }
  const asked = ruleRequestOf(world, request)
  for (const rule of rules) {
    const answer = answerOf(world, rule, asked, request)
    if (!answer) continue
    const { policy, writtenName, origin } = rule
    const { kind, namespace, name } = idOf(policy)
    const of = { policy: { kind, namespace, name }, rule: writtenName, origin }
    if (answer.status === 'pass') request.passed?.(of)
    if ('why' in answer) notEvaluated.push({ ...of, why: answer.why })
    else if ('path' in answer) {
      const enforces = answer.status === 'error' ? failsClosed(rules, rule, asked) : isEnforced(rule, asked)
      if (enforces === undefined) {
        const why = 'failureActionOverrides selects by labels of a Namespace that is not in the fleet'
        notEvaluated.push({ ...of, why })
      } else {
        const action = enforces ? 'deny' : 'audit'
        const field: Path = answer.path.length > 0 ? pathOf(answer.path) : fieldNamedBy(rule.rule)
        findings.push({ ...of, field, message: answer.message, action, by: 'Kyverno' })
      }
    }
  }
  return { findings, notEvaluated }
}

/** Path steps into lists are numbers. */
const pathOf = (path: readonly string[]): Path => path.map(step => (/^\d+$/.test(step) ? Number(step) : step))

function namesOf({ id, isNamespaced, parent }: AdmissionRequest) {
  const { apiVersion, kind } = parent ?? id
  const slash = apiVersion.indexOf('/')
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind,
    ...(parent ? { subresource: parent.subresource } : {}),
    namespace: isNamespaced ? id.namespace : '',
    name: id.name,
  }
}

function answerOf(world: AdmissionWorld, rule: WrittenRule, asked: RuleRequest, request: AdmissionRequest): RuleAnswer {
  const { policy, policyNamespace } = rule
  if (stringAt(policy.root, ['kind']) === 'Policy' && policyNamespace !== asked.namespace) return undefined
  const given = world.given?.valuesFor(idOf(policy).name, request.id.name)
  return evaluateRule(rule, given ? withValues(asked, given) : asked, ruleWorld(world, rule, request))
}
