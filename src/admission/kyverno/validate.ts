import { type ContextValue, type Fields, isFields, isList, RuleError, textAt, valueAt } from '../jmespath/values.ts'
import { evaluateConditions, joined } from './conditions.ts'
import { addEntries, type ContextWorld } from './context-entries.ts'
import { type JsonContext, substitute, substituteText } from './json-context.ts'
import { type Matching, matchPattern } from './match-pattern.ts'

/** The result of a rule for an object, in Kyverno's terms. */
export type RuleOutcome =
  | { readonly status: 'pass' | 'skip' }
  | { readonly status: 'fail' | 'error'; readonly message: string; readonly path: readonly string[] }

/** The inputs of a rule. */
interface AskedValidation {
  readonly name: string
  readonly message: string
  readonly world: ContextWorld
  /** The object; undefined for a deletion, to which patterns do not apply. */
  readonly object: ContextValue | undefined
}

const PASS: RuleOutcome = { status: 'pass' }
const SKIP: RuleOutcome = { status: 'skip' }
const MAX_NESTING = 20

/** `validate` by deny, pattern, anyPattern or foreach (pkg/engine/handlers/validation of Kyverno); undefined: the rule does not apply. */
export function validate(block: ContextValue, asked: AskedValidation, context: JsonContext): RuleOutcome | undefined {
  return validateBlock(block, asked, context, 0)
}

function validateBlock(
  block: ContextValue,
  asked: AskedValidation,
  context: JsonContext,
  nesting: number,
): RuleOutcome | undefined {
  const deny = valueAt(block, ['deny'])
  if (deny !== undefined) return denied(deny, asked, context)
  const [pattern, anyPattern] = [valueAt(block, ['pattern']), valueAt(block, ['anyPattern'])]
  if (pattern !== undefined || anyPattern !== undefined) {
    if (asked.object === undefined) return undefined
    if (pattern !== undefined)
      return ofPattern(matchPattern(substitute(pattern, context), asked.object), asked, context)
    const patterns = substitute(anyPattern!, context)
    return ofAny(isList(patterns) ? patterns : [], asked, context)
  }
  const loops = valueAt(block, ['foreach'])
  return isList(loops) ? validateLoops(loops, asked, context, nesting) : undefined
}

function denied(deny: ContextValue, asked: AskedValidation, context: JsonContext): RuleOutcome {
  const { isMet, message } = evaluateConditions(valueAt(deny, ['conditions']), context)
  if (!isMet) return PASS
  const template = joined([asked.message, message], '; ')
  const text = template === '' ? `rule ${asked.name} failed` : substituteText(template, context)
  return { status: 'fail', message: text ?? message, path: [] }
}

function ofPattern(outcome: Matching, asked: AskedValidation, context: JsonContext): RuleOutcome {
  if (!('path' in outcome)) return outcome.status === 'pass' ? PASS : SKIP
  const { status, path } = outcome
  const where = `rule ${asked.name} failed at path /${path.join('/')}/`
  const message = asked.message === '' ? where : (substituteText(asked.message, context) ?? where)
  return { status, path, message }
}

function ofAny(patterns: readonly ContextValue[], asked: AskedValidation, context: JsonContext): RuleOutcome {
  const outcomes: Matching[] = []
  for (const pattern of patterns) {
    const outcome = matchPattern(pattern, asked.object!)
    if (outcome.status === 'pass') return PASS
    outcomes.push(outcome)
  }
  const failed = outcomes.find(one => one.status === 'fail' || one.status === 'error')
  if (!failed || !('path' in failed)) return outcomes.length > 0 ? SKIP : PASS
  return ofPattern({ ...failed, status: 'fail' }, asked, context)
}

function validateLoops(
  loops: readonly ContextValue[],
  asked: AskedValidation,
  context: JsonContext,
  nesting: number,
): RuleOutcome | undefined {
  if (nesting > MAX_NESTING) throw new RuleError(`foreach is nested more than ${MAX_NESTING} levels deep`)
  let applied = 0
  let problem: RuleError | undefined
  for (const loop of loops) {
    let elements: ContextValue
    try {
      elements = context.query(textAt(loop, ['list']))
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      if (!error.message.includes('Unknown key')) problem = error
      continue
    }
    const outcome = validateElements(loop, isList(elements) ? elements : [elements], asked, context, nesting)
    if (typeof outcome !== 'number') return outcome
    applied += outcome
  }
  if (applied > 0) return PASS
  if (problem) return { status: 'error', message: `failed to evaluate list: ${problem.message}`, path: [] }
  return undefined
}

/** The number of elements that the loop evaluated, or the first outcome that is not a pass. */
function validateElements(
  loop: ContextValue,
  elements: readonly ContextValue[],
  asked: AskedValidation,
  context: JsonContext,
  nesting: number,
): number | RuleOutcome {
  let applied = 0
  for (const [index, element] of elements.entries()) {
    context.steps.spend(10)
    if (element === null) continue
    const child = context.child([
      ['element', element],
      [`element${nesting}`, element],
      ['elementIndex', index],
      [`elementIndex${nesting}`, index],
    ])
    const outcome = validateElement(loop, element, asked, child, nesting)
    if (outcome === undefined || outcome.status === 'skip') continue
    if (outcome.status !== 'pass') return outcome
    applied++
  }
  return applied
}

function validateElement(
  loop: ContextValue,
  element: ContextValue,
  asked: AskedValidation,
  context: JsonContext,
  nesting: number,
): RuleOutcome | undefined {
  const scope = valueAt(loop, ['elementScope'])
  if (scope === true && !isFields(element)) {
    return { status: 'error', message: 'elementScope is set for an element that is not a map', path: [] }
  }
  addEntries(valueAt(loop, ['context']), context, asked.world)
  try {
    if (!evaluateConditions(valueAt(loop, ['preconditions']), context).isMet) return undefined
  } catch (error) {
    // Kyverno skips an element whose preconditions it cannot evaluate
    if (error instanceof RuleError) return undefined
    throw error
  }
  const isScoped = isFields(element) && element.size > 0 && scope !== false
  const object = isScoped ? element : asked.object
  return validateBlock(loop as Fields, { ...asked, object }, context, nesting + 1)
}
