import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { SharedSteps } from '../../expr/evaluate.ts'
import { CelError } from '../../expr/expression.ts'
import { kubernetesLibrary, PolicyExpression } from '../../expr/libraries/kubernetes-library.ts'
import { type CelValue, type FunctionLibrary, LazyFields } from '../../expr/values.ts'
import { at, itemsOf, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { AdmissionRequest, AdmissionWorld } from './admission-request.ts'
import { withKeptDefaults } from './defaults.ts'
import { authorizerValue, namespaceValue, objectValueIn, requestValue } from './request-value.ts'

/** An expression of a policy and where it stands; `problem`: why it cannot be compiled. */
interface CelRule {
  readonly name: string
  readonly text: string
  readonly expression: PolicyExpression | { readonly problem: string }
  readonly origin: Origin
}

interface Validation extends CelRule {
  readonly message: string
  readonly messageExpression: PolicyExpression | { readonly problem: string } | undefined
  /** The field of the object that it reads, as far as that can be seen. */
  readonly field: Path
}

/** The engine that evaluates a policy, and the functions that its expressions may call. */
interface Dialect {
  readonly by: 'Kubernetes' | 'Kyverno'
  readonly library: FunctionLibrary
  /** Rewrites an expression or message before it is compiled. */
  rewrite?(text: string): string
}

/** A policy in CEL, of Kubernetes or in Kyverno's own kinds. */
export interface CelPolicy {
  readonly by: Dialect['by']
  readonly object: KubeObject
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly conditions: readonly CelRule[]
  readonly variables: readonly CelRule[]
  readonly validations: readonly Validation[]
  readonly audits: readonly CelRule[]
  readonly failsClosed: boolean
  readonly constraints: Node | undefined
}

/** The compiled form of a CEL policy; cached. */
export const celPolicy = oncePer(
  (object: KubeObject): CelPolicy => compilePolicy(object, { by: 'Kubernetes', library: kubernetesLibrary }),
)

export function compilePolicy(object: KubeObject, dialect: Dialect): CelPolicy {
  const { kind, namespace, name } = idOf(object)
  const of = (field: string) => itemsOf(at(object.root, ['spec', field]))
  return {
    by: dialect.by,
    object,
    ...{ kind, namespace, name },
    conditions: of('matchConditions').map(item => ruleOf(item, 'expression', dialect)),
    variables: of('variables').map(item => ruleOf(item, 'expression', dialect)),
    validations: of('validations').map(item => validationOf(item, dialect)),
    audits: of('auditAnnotations').map(item => ruleOf(item, 'valueExpression', dialect)),
    failsClosed: (stringAt(object.root, ['spec', 'failurePolicy']) ?? 'Fail') !== 'Ignore',
    constraints: at(object.root, ['spec', 'matchConstraints']),
  }
}

function ruleOf(item: Node, key: string, { library, rewrite = same }: Dialect): CelRule {
  const text = rewrite(stringAt(item, [key]) ?? '')
  return {
    name: stringAt(item, ['name']) ?? stringAt(item, ['key']) ?? '',
    text,
    expression: PolicyExpression.compile(text, library),
    origin: at(item, [key])?.origin ?? item.origin,
  }
}

const same = (text: string): string => text

function validationOf(item: Node, dialect: Dialect): Validation {
  const { library, rewrite = same } = dialect
  const rule = ruleOf(item, 'expression', dialect)
  const messageText = rewrite(stringAt(item, ['messageExpression']) ?? '')
  return {
    ...rule,
    message: rewrite(stringAt(item, ['message']) ?? '').trim(),
    messageExpression: messageText.trim() === '' ? undefined : PolicyExpression.compile(messageText, library),
    field: fieldIn(rule.text),
  }
}

/** The longest field of `object` that a text names. */
function fieldIn(text: string): Path {
  const found = [...text.slice(0, 20_000).matchAll(/(?<![\w.])object((?:\.\??[A-Za-z_]\w*)+)(?!\w*\()/g)]
  const paths = found.map(([, fields = '']) => fields.slice(1).replaceAll('?', '').split('.'))
  return paths.reduce<string[]>((best, path) => (path.length > best.length ? path : best), [])
}

/** Why a policy denies a request, or why that is not known. */
export type PolicyVerdict =
  | { readonly refused: string; readonly field: Path; readonly origin: Origin; readonly check: string }
  | { readonly unclear: string; readonly origin: Origin }

/** Longest message that the API server takes from an expression. */
const LONGEST_MESSAGE = 5_120

/** Budget for all expressions of a policy together; the API server has its own limit, in its own units. */
const MAX_STEPS = 10_000_000

/**
 * Evaluates a policy with one object of parameters, as the API server does (k8s.io/apiserver
 * pkg/admission/plugin/policy/validating): conditions, then every validation, then the audit annotations. Kyverno stops at
 * the first validation that fails, and an error in one denies the request whatever failurePolicy is. `more`: names that
 * Kubernetes does not have.
 */
export function evaluatePolicy(
  policy: CelPolicy,
  world: AdmissionWorld,
  request: AdmissionRequest,
  params: CelValue,
  more: ReadonlyMap<string, CelValue> = new Map(),
): PolicyVerdict[] {
  const names = namesOf(policy, world, request, params, more)
  const condition = conditionsHold(policy, policy.conditions, names)
  if (condition === false) return []
  if (condition !== true) return [condition].filter(one => 'unclear' in one || policy.failsClosed)
  const verdicts: PolicyVerdict[] = []
  for (const rule of policy.validations) {
    const found = verdictOf(policy, rule, names)
    verdicts.push(...found)
    if (policy.by === 'Kyverno' && found.some(one => 'refused' in one)) break
  }
  const all = [...verdicts, ...policy.audits.flatMap(one => auditProblem(policy, one, names))]
  const { kind, namespace, name } = policy
  if (all.length === 0) request.passed?.({ policy: { kind, namespace, name }, rule: '' })
  return all
}

/** Whether the match conditions of a policy or an exception are met; a verdict if they fail or are not known. */
export function areMet(
  policy: CelPolicy,
  conditions: readonly CelRule[],
  world: AdmissionWorld,
  request: AdmissionRequest,
  params: CelValue = null,
): boolean | PolicyVerdict {
  return conditionsHold(policy, conditions, namesOf(policy, world, request, params, new Map()))
}

/** True: go on; false: the policy does not apply. */
function conditionsHold({ by }: CelPolicy, conditions: readonly CelRule[], all: PolicyNames): boolean | PolicyVerdict {
  // the API server does not hand the Namespace to conditions
  const isHidden = (name: string) => by === 'Kubernetes' && name === 'namespaceObject'
  const names: PolicyNames = { budget: all.budget, get: name => (isHidden(name) ? null : all.get(name)) }
  let problem: PolicyVerdict | undefined
  for (const rule of conditions) {
    const outcome = evaluated(rule, names)
    if ('value' in outcome && outcome.value === true) continue
    if ('value' in outcome) return false
    problem ??=
      'error' in outcome
        ? { refused: `matchCondition ${rule.name}: ${outcome.error}`, field: [], origin: rule.origin, check: rule.text }
        : { unclear: outcome.notEvaluated, origin: rule.origin }
  }
  return problem ?? true
}

function verdictOf(policy: CelPolicy, rule: Validation, names: PolicyNames): PolicyVerdict[] {
  const outcome = evaluated(rule, names)
  if ('notEvaluated' in outcome) return [{ unclear: outcome.notEvaluated, origin: rule.origin }]
  if ('error' in outcome) {
    const refused = `expression '${rule.text}' resulted in error: ${outcome.error}`
    const isRefused = policy.failsClosed || policy.by === 'Kyverno'
    return isRefused ? [{ refused, field: rule.field, origin: rule.origin, check: rule.text }] : []
  }
  if (outcome.value === true) return []
  return [{ refused: messageOf(policy, rule, names), field: rule.field, origin: rule.origin, check: rule.text }]
}

/** `messageExpression` where it gives one line, else `message`, else the expression. */
function messageOf(policy: CelPolicy, rule: Validation, names: PolicyNames): string {
  const { messageExpression: made } = rule
  if (made && !('problem' in made)) {
    const outcome = made.evaluate(names, names.budget)
    const text = 'value' in outcome && typeof outcome.value === 'string' ? outcome.value : ''
    if (text.trim() !== '' && !text.includes('\n') && text.length <= LONGEST_MESSAGE) return text.trim()
  }
  if (policy.by === 'Kyverno' && rule.message === '')
    return `CEL expression validation failed at index ${policy.validations.indexOf(rule)}`
  return rule.message || `failed expression: ${rule.text.trim()}`
}

function auditProblem(policy: CelPolicy, rule: CelRule, names: PolicyNames): PolicyVerdict[] {
  const outcome = evaluated(rule, names)
  if ('notEvaluated' in outcome || !policy.failsClosed) return []
  const isText = 'value' in outcome && (typeof outcome.value === 'string' || outcome.value === null)
  if (isText) return []
  const why = 'error' in outcome ? outcome.error : 'its value is not a string'
  return [{ refused: `auditAnnotation ${rule.name}: ${why}`, field: [], origin: rule.origin, check: rule.text }]
}

interface PolicyNames {
  readonly budget: SharedSteps
  get(name: string): CelValue | undefined
}

function evaluated({ expression, text }: CelRule, names: PolicyNames): ReturnType<PolicyExpression['evaluate']> {
  if (!('problem' in expression)) return expression.evaluate(names, names.budget)
  return {
    notEvaluated: `the expression ${JSON.stringify(text.slice(0, 100))} is not supported: ${expression.problem}`,
  }
}

/** What expressions of a policy may name; variables are worked out when they are used. */
function namesOf(
  policy: CelPolicy,
  world: AdmissionWorld,
  request: AdmissionRequest,
  params: CelValue,
  more: ReadonlyMap<string, CelValue>,
): PolicyNames {
  const { operation, object, old } = request
  const of = (one: KubeObject) => objectValueIn(world, one)
  const values = new Map<string, CelValue>(more)
  const make: Readonly<Record<string, () => CelValue>> = {
    object: () =>
      operation === 'DELETE' ? null : old && !world.given ? withKeptDefaults(of(object), object, old) : of(object),
    oldObject: () => (operation === 'DELETE' ? of(object) : old ? of(old) : null),
    request: () => requestValue(request),
    params: () => params,
    namespaceObject: () => namespaceValue(world, request),
    authorizer: () => authorizerValue(world, request),
    variables: () => variablesOf(policy, names),
  }
  const names: PolicyNames = {
    budget: new SharedSteps(MAX_STEPS),
    get(name) {
      const known = values.get(name)
      if (known !== undefined || !Object.hasOwn(make, name)) return known
      const value = make[name]!()
      values.set(name, value)
      return value
    },
  }
  return names
}

function variablesOf({ variables }: CelPolicy, names: PolicyNames): LazyFields {
  const worked = new Map<string, { readonly value: CelValue } | { readonly error: unknown }>()
  const rules = new Map(variables.map(rule => [rule.name, rule]))
  return new LazyFields(name => {
    const rule = rules.get(name)
    if (!rule) return undefined
    let known = worked.get(name)
    if (!known) {
      known = tried(rule, names)
      worked.set(name, known)
    }
    if ('error' in known) throw known.error
    return known.value
  })
}

function tried(
  { expression, name }: CelRule,
  names: PolicyNames,
): { readonly value: CelValue } | { readonly error: unknown } {
  if ('problem' in expression) return { error: new CelError(`variable ${name}: ${expression.problem}`) }
  try {
    return { value: expression.valueIn(names, names.budget) }
  } catch (error) {
    return { error }
  }
}
