import { CelBudgetError } from '../../expr/expression.ts'
import { kubernetesLibrary } from '../../expr/libraries/kubernetes-library.ts'
import type { CelValue } from '../../expr/values.ts'
import { nodeOf } from '../../fleet/model/kustomization-spec.ts'
import { at, type Json, type MapNode, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-fields.ts'
import { type AdmissionRequest, type AdmissionWorld, selectObjects } from '../admission/admission-request.ts'
import { paramsOf } from '../admission/native-engine.ts'
import { areMet, type CelPolicy, compilePolicy, evaluatePolicy } from '../admission/native-policy.ts'
import { imagesOf } from '../jmespath/text-functions.ts'
import {
  type ContextValue,
  type Fields,
  fromJson,
  fromNode,
  isFields,
  isList,
  jsonOf,
  matchesWildcard,
  NotEvaluatedError,
  RuleError,
  RuleSteps,
  textAt,
  Unknown,
  valueAt,
} from '../jmespath/values.ts'
import { evaluateConditions } from './conditions.ts'
import { addEntries, apiCallBody, type ContextWorld } from './context-entries.ts'
import { JsonContext } from './json-context.ts'
import { readExceptions } from './kyverno-settings.ts'
import { validatePodSecurity } from './pod-security.ts'
import type { ComputedRule, WrittenRule } from './policy-rules.ts'
import type { RuleRequest } from './rule-request.ts'
import { isExcepted, isSelected } from './selection.ts'
import { type RuleOutcome, validate } from './validate.ts'

/** The result of a rule for a request; `unclear`: why it is not known; undefined: the rule does not apply. */
export type RuleAnswer = RuleOutcome | { readonly status: 'unclear'; readonly why: string } | undefined

/** What a rule may read beyond the request. */
interface RuleWorld extends ContextWorld {
  /** Values of names that a policy test gives the rule, by dotted path. */
  readonly values: ReadonlyMap<string, Json>
  /** `spec` of the PolicyExceptions that match the request. */
  exceptions(request: RuleRequest, context: JsonContext): readonly Fields[]
  /** `validate.cel`. */
  validateCel(rule: ComputedRule): RuleOutcome
}

/** Parts of `validate` that are not supported, by name. */
const OTHERS = ['manifests', 'assert'] as const

/** Evaluates a rule as Kyverno's webhook does: match, context, preconditions, exceptions, validation. Never throws. */
export function evaluateRule(one: ComputedRule, request: RuleRequest, world: RuleWorld): RuleAnswer {
  return answered(() => {
    const ready = prepared(one, request, world)
    if (!ready || ready === 'skip') return ready && { status: 'skip' }
    const { context, excluded } = ready
    const block = one.rule.get('validate') as Fields
    const other = OTHERS.find(key => block.has(key))
    if (other) throw new NotEvaluatedError(`validate.${other} is not evaluated here`)
    if (block.has('cel')) return world.validateCel(one)
    const object = request.operation === 'DELETE' ? undefined : request.object
    if (block.has('podSecurity')) return validatePodSecurity(block, object, excluded)
    return validate(block, { name: one.name, message: textAt(block, ['message']), world, object }, context)
  })
}

/** Whether a rule applies to a request; `pass` if it does. Never throws. */
export function appliesRule(one: ComputedRule, request: RuleRequest, world: RuleWorld): RuleAnswer {
  return answered(() => {
    const ready = prepared(one, request, world)
    return ready && ready !== 'skip' ? { status: 'pass' } : undefined
  })
}

function answered(work: () => RuleAnswer): RuleAnswer {
  try {
    return work()
  } catch (error) {
    if (error instanceof RuleError) return { status: 'error', message: error.message, path: [] }
    if (error instanceof NotEvaluatedError) return { status: 'unclear', why: error.message }
    if (error instanceof CelBudgetError) return { status: 'unclear', why: `it compares ${error.message}` }
    throw error
  }
}

interface Prepared {
  readonly context: JsonContext
  /** Controls of `podSecurity` that exceptions exclude. */
  readonly excluded: readonly ContextValue[]
}

const isNonEmpty = (value: ContextValue) => isList(value) && value.length > 0

/** The inputs of the validation; undefined if the rule does not match, `skip` if preconditions or exceptions exclude it. */
function prepared({ rule }: ComputedRule, request: RuleRequest, world: RuleWorld): Prepared | 'skip' | undefined {
  const selected = isFields(rule.get('validate')) && isSelected(rule, request)
  if (selected === false) return undefined
  if (selected === undefined) throw new NotEvaluatedError('match or exclude asks for what only the cluster knows')
  const context = contextOf(request, world)
  addEntries(rule.get('context'), context, world)
  if (!evaluateConditions(rule.get('preconditions'), context).isMet) return 'skip'
  const exceptions = world.exceptions(request, context)
  const excluded = exceptions.map(spec => spec.get('podSecurity') ?? null)
  // an exception for some controls does not except the whole rule
  const isOfControls = (rule.get('validate') as Fields).has('podSecurity') && excluded.every(isNonEmpty)
  if (exceptions.length > 0 && !isOfControls) return 'skip'
  return { context, excluded: excluded.flatMap(list => (isList(list) ? list : [])) }
}

function contextOf(request: RuleRequest, { values }: RuleWorld): JsonContext {
  const context = new JsonContext(withNames(request.context, values), request.operation === 'DELETE', new RuleSteps())
  context.defer('images', at => {
    const images = request.operation === 'DELETE' ? undefined : imagesOf(request.object)
    if (images) at.set('images', images)
  })
  return context
}

const GLOBAL_ENTRY = 'kyverno.io/GlobalContextEntry'

/** The parts of the fleet that a policy rule may read. */
export function ruleWorld(world: AdmissionWorld, rule: WrittenRule, asked: AdmissionRequest): RuleWorld {
  const exceptions = exceptionsFor(world, rule)
  const { policyNamespace } = rule
  return {
    policyNamespace,
    configMap: (namespace, name) => configMapOf(configMapIn(world, namespace, name)),
    apiCall: call => apiCallBody(world, call, policyNamespace),
    globalEntry: name => globalEntry(world, name),
    ...givenTo(world, rule, asked),
    validateCel: one => validateCel(one, world, asked),
    exceptions: (request, context) => appliedTo(exceptions, request, context),
  }
}

const NO_VALUES: RuleWorld['values'] = new Map()

/** Kyverno's command line reads an entry where it has a source for it, and else takes the values of a test. */
function givenTo(
  { given }: AdmissionWorld,
  { policy, writtenName }: WrittenRule,
  { id }: AdmissionRequest,
): Pick<RuleWorld, 'values' | 'isGiven'> {
  if (!given) return { values: NO_VALUES, isGiven: () => false }
  const { name } = idOf(policy)
  const values = given.ruleValues(name, writtenName)
  const names = new Set([...values.keys(), ...given.valuesFor(name, id.name).keys()].map(key => key.split('.')[0]))
  const isRead = (source: string) =>
    source === 'variable' || (given.cluster !== undefined && source !== 'imageRegistry')
  return { values, isGiven: (entry, source) => !isRead(source) && names.has(entry) }
}

function configMapIn({ given, object }: AdmissionWorld, namespace: string, name: string): KubeObject | undefined {
  if (!given) return object('/ConfigMap', namespace, name)
  const query = { apiVersion: 'v1', resource: 'configmaps', namespace, name }
  return selectObjects(given.cluster ?? [], query, given.resourceOf)[0]
}

function configMapOf(object: KubeObject | undefined): ContextValue | undefined {
  if (!object) return undefined
  const [data, metadata] = [at(object.root, ['data']), at(object.root, ['metadata'])]
  const values = object.sealed ? new Unknown('its values are encrypted') : data ? fromNode(data) : null
  return new Map<string, ContextValue>([
    ['data', values],
    ['metadata', metadata ? fromNode(metadata) : new Map()],
  ])
}

function globalEntry(world: AdmissionWorld, name: string): ContextValue {
  const content = world.given?.globalContext(name)
  if (content !== undefined) return fromJson(content)
  const entry = world.object(GLOBAL_ENTRY, '', name)
  if (!entry) throw new NotEvaluatedError(`GlobalContextEntry ${name} is not in the fleet`)
  const resource = stringAt(entry.root, ['spec', 'kubernetesResource', 'resource'])
  const what = resource === undefined ? 'the response of a service' : `all ${resource} of a cluster`
  throw new NotEvaluatedError(`GlobalContextEntry ${name} holds ${what}`)
}

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE'] as const
const EXCEPTION = 'kyverno.io/PolicyException'

/** The platform's PolicyExceptions that name a rule, in namespaces from which Kyverno reads them. */
function exceptionsFor(world: AdmissionWorld, { policy, name }: WrittenRule): readonly KubeObject[] {
  const id = idOf(policy)
  const full = id.kind === 'Policy' ? `${id.namespace}/${id.name}` : id.name
  const named = world.policies(EXCEPTION).filter(exception => {
    const list = at(exception.root, ['spec', 'exceptions'])
    return (
      list?.type === 'list' &&
      list.items.some(
        one =>
          stringAt(one, ['policyName']) === full &&
          (textsOf(at(one, ['ruleNames'])) ?? []).some(pattern => matchesWildcard(pattern, name)),
      )
    )
  })
  return readExceptions(world, 'kyverno.io', named)
}

/** `spec` of the exceptions that match the request; an exception whose conditions Kyverno cannot evaluate does not match. */
function appliedTo(exceptions: readonly KubeObject[], request: RuleRequest, context: JsonContext): Fields[] {
  return exceptions.flatMap(exception => {
    const spec = fromNode(at(exception.root, ['spec']) ?? exception.root)
    return isFields(spec) && applies(spec, request, context) ? [spec] : []
  })
}

function applies(spec: Fields, request: RuleRequest, context: JsonContext): boolean {
  const selected = isExcepted(spec.get('match'), request)
  if (selected === false && OPERATIONS.some(operation => isExcepted(spec.get('match'), { ...request, operation })))
    throw new NotEvaluatedError('a PolicyException names operations, which Kyverno 1.19 does not compare')
  if (selected === undefined) throw new NotEvaluatedError('a PolicyException asks for what only the cluster knows')
  if (!selected) return false
  try {
    return evaluateConditions(spec.get('conditions'), context).isMet
  } catch (error) {
    if (error instanceof RuleError) return false
    throw error
  }
}

const compiled = new WeakMap<Fields, CelPolicy>()

/** `validate.cel` with `celPreconditions`: Kyverno evaluates both as a ValidatingAdmissionPolicy (validate_cel.go). */
function validateCel(one: ComputedRule, world: AdmissionWorld, request: AdmissionRequest): RuleOutcome {
  const policy =
    compiled.get(one.rule) ?? compilePolicy(asPolicy(one), { by: 'Kubernetes', library: kubernetesLibrary })
  compiled.set(one.rule, policy)
  const params = paramsOf(world, policy.object, policy.object, request)
  if (typeof params === 'string') throw new NotEvaluatedError(params)
  const isSkipped = (given: CelValue) => areMet(policy, policy.conditions, world, request, given) === false
  if (policy.conditions.length > 0 && params.some(isSkipped)) return { status: 'skip' }
  const verdicts = params.flatMap(given => evaluatePolicy(policy, world, request, given))
  for (const verdict of verdicts) {
    if ('refused' in verdict) return { status: 'fail', message: verdict.refused, path: verdict.field.map(String) }
  }
  const [unclear] = verdicts
  if (unclear && 'unclear' in unclear) throw new NotEvaluatedError(unclear.unclear)
  return { status: 'pass' }
}

/** Wraps the rule in an object with the fields of a ValidatingAdmissionPolicy. */
function asPolicy({ rule, origin }: ComputedRule): KubeObject {
  const of = (key: string): ContextValue => valueAt(rule, ['validate', 'cel', key]) ?? null
  const message = textAt(rule, ['validate', 'message'])
  const expressions = of('expressions')
  const validations = (isList(expressions) ? expressions : []).map(expression =>
    isFields(expression) && message !== '' && textAt(expression, ['message']) === ''
      ? new Map([...expression, ['message', message]])
      : expression,
  )
  const spec = new Map<string, ContextValue>([
    ['matchConditions', rule.get('celPreconditions') ?? null],
    ['variables', of('variables')],
    ['validations', validations],
    ['auditAnnotations', of('auditAnnotations')],
    ['paramKind', of('paramKind')],
    ['paramRef', of('paramRef')],
  ])
  const given = new Map([...spec].filter(([, value]) => value !== null))
  return { root: nodeOf(jsonOf(new Map([['spec', given]])), origin) as MapNode, trail: [] }
}

/** A part of a dotted path; quotes protect dots. */
const PART = /"(?:[^"]|"")*"|[^.]+/g

/** A request with values of a policy test in its context; the object follows where they change it (makePolicyContext of Kyverno's command line). */
export function withValues(request: RuleRequest, values: ReadonlyMap<string, Json>): RuleRequest {
  if (values.size === 0) return request
  const context = withNames(request.context, values)
  const asked = context.get('request')
  const of = (key: string) => (isFields(asked) ? asked.get(key) : undefined)
  const old = of('oldObject')
  if (request.operation === 'DELETE') return { ...request, context, object: old ?? null }
  return { ...request, context, object: of('object') ?? null, ...(request.old ? { old: old ?? null } : {}) }
}

/** Names of a context with further values, by dotted path. */
function withNames(context: Fields, values: ReadonlyMap<string, Json>): Fields {
  let made = context
  for (const [path, value] of values) {
    const parts = (path.match(PART) ?? []).map(part => (part.startsWith('"') ? part.slice(1, -1) : part))
    if (parts.length > 0) made = merged(made, nested(parts, fromJson(value))) as Fields
  }
  return made
}

const nested = (parts: readonly string[], value: ContextValue): ContextValue =>
  parts.reduceRight<ContextValue>((inner, part) => new Map([[part, inner]]), value)

function merged(one: ContextValue | undefined, other: ContextValue): ContextValue {
  if (!isFields(one) || !isFields(other)) return other
  const made = new Map(one)
  for (const [key, value] of other) made.set(key, merged(made.get(key), value))
  return made
}
