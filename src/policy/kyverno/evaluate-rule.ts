import { CelBudgetError } from '../../cel/cel-error.ts'
import type { Json } from '../../kube/node.ts'
import type { ComputedRule } from './computed-rules.ts'
import { evaluateConditions } from './conditions.ts'
import { addEntries, type ContextWorld } from './context-entries.ts'
import { imagesOf } from './jmespath/image-info.ts'
import { RuleSteps } from './jmespath/rule-steps.ts'
import {
  type ContextValue,
  type Fields,
  isFields,
  isList,
  NotEvaluatedError,
  RuleError,
  textAt,
} from './jmespath/values.ts'
import { JsonContext } from './json-context.ts'
import type { RuleRequest } from './rule-request.ts'
import { isSelected } from './selection.ts'
import { type RuleOutcome, validate } from './validate.ts'
import { validatePodSecurity } from './validate-pod-security.ts'
import { withNames } from './with-values.ts'

/** The result of a rule for a request; `unclear`: why it is not known; undefined: the rule does not apply. */
export type RuleAnswer = RuleOutcome | { readonly status: 'unclear'; readonly why: string } | undefined

/** What a rule may read beyond the request. */
export interface RuleWorld extends ContextWorld {
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
