import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type {
  AdmissionAnswer,
  AdmissionFinding,
  AdmissionRequest,
  AdmissionWorld,
  NotEvaluated,
} from '../admission/admission-request.ts'
import { isMatched } from '../admission/native-engine.ts'
import { areMet } from '../admission/native-policy.ts'
import {
  type ContextValue,
  type Fields,
  fromNode,
  isFields,
  isList,
  jsonText,
  matchesWildcard,
  textAt,
  valueAt,
} from '../jmespath/values.ts'
import { evaluateRule, type RuleAnswer, ruleWorld, withValues } from './evaluate-rule.ts'
import { conditionsOf, isAccountExcluded, type KyvernoSettings, kyvernoSettings } from './kyverno-settings.ts'
import { policyRules, type WrittenRule } from './policy-rules.ts'
import { type RuleRequest, ruleRequestOf } from './rule-request.ts'
import { isKindSelected, matchesLabels } from './selection.ts'

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

/**
 * Kyverno admits an update of an object that violated a rule before it, unless `allowExistingViolations` is false (validateOldObject of
 * pkg/engine/handlers/validation). Undefined: this does not apply.
 */
function answerBefore(
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

/**
 * The answer of a rule whose webhook's conditions are not met or not known; undefined where they are met. Those of a policy replace
 * those of Kyverno's ConfigMap.
 */
function answerOfConditions(
  world: AdmissionWorld,
  { policy }: WrittenRule,
  request: AdmissionRequest,
): RuleAnswer | 'not called' {
  if (world.given) return undefined
  const own = at(policy.root, ['spec', 'webhookConfiguration', 'matchConditions'])
  const isOwn = own?.type === 'list' && own.items.length > 0
  const conditions = isOwn ? conditionsOf(own) : kyvernoSettings(world).conditions
  if (!conditions) return undefined
  const isMet = areMet(conditions, conditions.conditions, world, request)
  if (isMet === true) return undefined
  if (isMet === false) return 'not called'
  return 'unclear' in isMet
    ? { status: 'unclear', why: isMet.unclear }
    : { status: 'error', message: isMet.refused, path: [] }
}

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
function failureAction({ policy, rule }: WrittenRule): string {
  const own = textAt(rule.get('validate'), ['failureAction'])
  return own || (stringAt(policy.root, ['spec', 'validationFailureAction']) ?? 'Audit')
}

/** If any rule of the policy enforces, Kyverno denies a request for which another rule of it cannot be evaluated. */
function failsClosed(rules: readonly WrittenRule[], one: WrittenRule, request: RuleRequest): boolean | undefined {
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

type Asked = Pick<RuleRequest, 'group' | 'version' | 'kind' | 'namespace' | 'name'>

/** Whether Kyverno's webhooks see a request, by its ConfigMap if the fleet renders one; a text: why that is not known. */
function isSeen(world: AdmissionWorld, request: AdmissionRequest, asked: RuleRequest): boolean | string {
  const settings = kyvernoSettings(world)
  if (isAccountExcluded(settings, asked)) return false
  return settings.selectors ? isMatched(world, settings.selectors, request) : true
}

/** Whether Kyverno ignores an object because of its resource filters. */
export function isFiltered({ filters }: KyvernoSettings, asked: Asked): boolean {
  return filters.some(filter => isMeant(filter, asked))
}

function isMeant(filter: string, asked: Asked): boolean {
  const [kind = '', namespace = '*', name = '*'] = filter
    .slice(1, -1)
    .split(',')
    .map(part => part.trim())
  if (!isKindSelected(kind, asked)) return false
  if (matchesWildcard(namespace, asked.namespace) && matchesWildcard(name, asked.name)) return true
  return asked.kind === 'Namespace' && asked.group === '' && matchesWildcard(namespace, asked.name)
}
