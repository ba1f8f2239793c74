import { type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type {
  AdmissionAnswer,
  AdmissionFinding,
  AdmissionRequest,
  NotEvaluated,
} from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { answerBefore } from './answer-before.ts'
import { evaluateRule, type RuleAnswer } from './evaluate-rule.ts'
import { failsClosed, isEnforced } from './failure-action.ts'
import { isFiltered, isSeen } from './is-seen.ts'
import { type ContextValue, type Fields, isFields, isList } from './jmespath/values.ts'
import { kyvernoSettings } from './kyverno-settings.ts'
import { policyRules, type WrittenRule } from './policy-rules.ts'
import type { RuleRequest } from './rule-request.ts'
import { ruleRequestOf } from './rule-request-of.ts'
import { ruleWorld } from './rule-world.ts'
import { answerOfConditions } from './webhook-conditions.ts'
import { withValues } from './with-values.ts'

const NAMED = /(?<![\w.])request\.object((?:\.[A-Za-z_]\w*)+)(?!\w*\()/g

/** The longest field path that a validation names; findings point there. */
function fieldNamedBy(rule: Fields): Path {
  const found = textsIn(rule.get('validate') ?? null).flatMap(text =>
    [...text.slice(0, 20_000).matchAll(NAMED)].map(([, fields = '']) => fields.slice(1).split('.')),
  )
  return found.reduce<string[]>((best, path) => (path.length > best.length ? path : best), [])
}

function textsIn(value: ContextValue): string[] {
  if (typeof value === 'string') return [value]
  if (isList(value)) return value.flatMap(textsIn)
  if (!isFields(value)) return []
  return [...value].flatMap(([key, item]) => (key === 'message' ? [] : textsIn(item)))
}

/** Evaluates the `validate` rules of Kyverno's ClusterPolicies and Policies for a request. */
export function evaluateKyverno(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer {
  const found: Found = { findings: [], notEvaluated: [] }
  const named = namesOf(request)
  const rules = policyRules(world, named)
  if (rules.length === 0 || isFiltered(kyvernoSettings(world), named)) return found
  const asked = ruleRequestOf(world, request)
  const isCalled = isSeen(world, request, asked)
  if (isCalled === false) return found
  const decided = new Map<KubeObject, 'applied' | 'unclear'>()
  for (const rule of rules) {
    const before = decided.get(rule.policy)
    if (before === 'applied') continue
    const answer = answerOf(world, rule, asked, request)
    if (!answer) continue
    const isOpen = typeof isCalled === 'string' || before === 'unclear'
    const why = typeof isCalled === 'string' ? isCalled : EARLIER
    take(found, rules, rule, isOpen ? { status: 'unclear', why } : answer, asked, request)
    if (!appliesOne(rule)) continue
    if (answer.status === 'unclear') decided.set(rule.policy, 'unclear')
    else if (answer.status === 'pass' || answer.status === 'fail') decided.set(rule.policy, 'applied')
  }
  return found
}

interface Found {
  readonly findings: AdmissionFinding[]
  readonly notEvaluated: NotEvaluated[]
}

const EARLIER = 'applyRules is One, and an earlier rule of the policy is not evaluated'

/** Kyverno stops at the first rule that passes or fails. */
const appliesOne = ({ policy }: WrittenRule) => stringAt(policy.root, ['spec', 'applyRules']) === 'One'

function take(
  { findings, notEvaluated }: Found,
  rules: readonly WrittenRule[],
  rule: WrittenRule,
  answer: NonNullable<Answer>,
  asked: RuleRequest,
  request: AdmissionRequest,
): void {
  const { policy, writtenName, origin } = rule
  const { kind, namespace, name } = idOf(policy)
  const of = { policy: { kind, namespace, name }, rule: writtenName, origin }
  if (answer.status === 'pass') request.passed?.(of)
  if ('why' in answer) notEvaluated.push({ ...of, why: answer.why })
  if (!('path' in answer)) return
  const isError = answer.status === 'error'
  const enforces = answer.isAdmitted ? false : isError ? failsClosed(rules, rule, asked) : isEnforced(rule, asked)
  if (enforces === undefined) {
    const why = 'failureActionOverrides selects by labels of a Namespace that is not in the fleet'
    notEvaluated.push({ ...of, why })
    return
  }
  const action = enforces ? 'deny' : 'audit'
  const field: Path = answer.path.length > 0 ? pathOf(answer.path) : fieldNamedBy(rule.rule)
  findings.push({ ...of, field, message: answer.message, action, by: 'Kyverno', ...(isError ? { isError } : {}) })
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

function answerOf(world: AdmissionWorld, rule: WrittenRule, asked: RuleRequest, request: AdmissionRequest): Answer {
  const { policy, policyNamespace } = rule
  if (stringAt(policy.root, ['kind']) === 'Policy' && policyNamespace !== asked.namespace) return undefined
  const given = world.given?.valuesFor(idOf(policy).name, request.id.name)
  const own = given ? withValues(asked, given) : asked
  const answer = evaluateRule(rule, own, ruleWorld(world, rule, request))
  if (!answer) return undefined
  const uncalled = answerOfConditions(world, rule, request)
  if (uncalled) return uncalled === 'not called' ? undefined : uncalled
  if (answer.status !== 'fail') return answer
  const before = answerBefore(world, rule, own, request)
  if (before?.status === 'unclear') return before
  if (before?.status !== 'fail') return answer
  // background scans report what admission lets pass
  return world.given ? { status: 'skip' } : { ...answer, isAdmitted: true }
}

/** `isAdmitted`: the object violates the rule, and Kyverno admits the request. */
type Answer = (RuleAnswer & { readonly isAdmitted?: true }) | undefined
