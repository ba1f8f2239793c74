import { isConditionMet } from './is-condition-met.ts'
import { type ContextValue, type Fields, isFields, isList, RuleError, textAt } from './jmespath/values.ts'
import type { JsonContext } from './json-context.ts'
import { substitute } from './substitute.ts'

/** Whether the conditions are met, and their messages. */
interface ConditionsOutcome {
  readonly isMet: boolean
  readonly message: string
}

/**
 * Evaluates the conditions of a rule: `any` and `all`, or a list that must be met entirely (pkg/engine/variables of Kyverno). Throws
 * RuleError if a condition cannot be evaluated.
 */
export function evaluateConditions(conditions: ContextValue | undefined, context: JsonContext): ConditionsOutcome {
  if (conditions === undefined || conditions === null) return { isMet: true, message: '' }
  if (isList(conditions)) return everyOf(conditions, context, ';')
  if (!isFields(conditions)) throw new RuleError('conditions are neither a list nor any and all')
  const [any, all] = [conditions.get('any') ?? null, conditions.get('all') ?? null]
  const first = isList(any) ? someOf(any, context) : { isMet: true, message: '' }
  const second = isList(all) ? everyOf(all, context, '; ') : { isMet: true, message: '' }
  const isMet = first.isMet && second.isMet
  const messages = [first, second].filter(one => one.isMet === isMet).map(({ message }) => message)
  return { isMet, message: joined(messages, '; ') }
}

function someOf(conditions: readonly ContextValue[], context: JsonContext): ConditionsOutcome {
  const failed: string[] = []
  for (const condition of conditions) {
    if (isMet(condition, context)) return { isMet: true, message: messageOf(condition) }
    failed.push(messageOf(condition))
  }
  return { isMet: false, message: joined(failed, '; ') }
}

function everyOf(conditions: readonly ContextValue[], context: JsonContext, separator: string): ConditionsOutcome {
  const messages: string[] = []
  for (const condition of conditions) {
    if (!isMet(condition, context)) return { isMet: false, message: messageOf(condition) }
    messages.push(messageOf(condition))
  }
  return { isMet: true, message: joined(messages, separator) }
}

function isMet(condition: ContextValue, context: JsonContext): boolean {
  if (!isFields(condition)) throw new RuleError('a condition has no key')
  const of = (name: string) => substitute((condition as Fields).get(name) ?? null, context)
  return isConditionMet(textAt(condition, ['operator']), of('key'), of('value'))
}

const messageOf = (condition: ContextValue) => textAt(condition, ['message'])

export const joined = (texts: readonly string[], separator: string) => texts.filter(text => text !== '').join(separator)
