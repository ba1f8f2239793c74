import { CelBudgetError } from '../../cel/cel-error.ts'
import { parseQuantity } from '../../cel/kubernetes/parse-quantity.ts'
import { readGoDuration } from '../../cel/times.ts'
import type { Node, ScalarValue } from '../../kube/node.ts'
import { matchesWildcard } from './wildcard.ts'

/**
 * Whether a value matches a scalar of a pattern of Kyverno (pkg/engine/pattern): `|` and `&`, comparisons, ranges, and then
 * durations, quantities and wildcards, in this order. A text: why it cannot be compared here.
 */
export function matchesScalar(pattern: Node, value: Node | undefined): boolean | string {
  if (pattern.type !== 'scalar') return false
  if (value !== undefined && value.type !== 'scalar') return false
  const given = value?.value ?? null
  const wanted = pattern.value
  if (wanted === null) return given === null || given === 0 || given === '' || given === false
  if (typeof wanted === 'boolean') return given === wanted
  if (typeof wanted !== 'string')
    return given !== null && given !== '' && typeof given !== 'boolean' && Number(given) === Number(wanted)
  if (wanted.includes('{{') || wanted.includes('$(')) return 'its pattern has variables'
  try {
    return matchesText(wanted, given)
  } catch (error) {
    if (error instanceof CelBudgetError) return `it compares ${error.message}`
    throw error
  }
}

function matchesText(pattern: string, given: ScalarValue): boolean {
  if (given === pattern) return true
  // what is absent is zero as a quantity, and no text
  const text = given === null ? undefined : String(given)
  return pattern.split('|').some(one => one.split('&').every(condition => matchesCondition(condition.trim(), text)))
}

const RANGE = /^([-+]?\d+(?:\.\d+)?[A-Za-z]*)(!?)-([-+]?\d+(?:\.\d+)?[A-Za-z]*)$/

function matchesCondition(pattern: string, text: string | undefined): boolean {
  const [, operator = '', operand = ''] = /^(<=|>=|<|>|!)\s*(.*)$/s.exec(pattern) ?? []
  if (operator === '!') return text !== undefined && !isEqual(operand.trim(), text)
  if (operator !== '') {
    const sign = ordered(text ?? '0', operand.trim())
    if (sign === undefined) return false
    return operator.startsWith('<')
      ? sign < 0 || (sign === 0 && operator === '<=')
      : sign > 0 || (sign === 0 && operator === '>=')
  }
  const [, from, not, to] = RANGE.exec(pattern) ?? []
  if (from === undefined || to === undefined) return isEqual(pattern, text)
  const [low, high] = [ordered(text ?? '0', from), ordered(text ?? '0', to)]
  if (low === undefined || high === undefined) return false
  return not === '!' ? low < 0 || high > 0 : low >= 0 && high <= 0
}

function isEqual(pattern: string, text: string | undefined): boolean {
  const sign = ordered(text ?? '0', pattern)
  if (sign !== undefined) return sign === 0
  return text !== undefined && matchesWildcard(pattern, text)
}

/** Below, equal, above, of durations or quantities; undefined where they are neither. */
function ordered(text: string, other: string): number | undefined {
  for (const read of [readGoDuration, parseQuantity]) {
    const [a, b] = [read(text), read(other)]
    if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : 0
  }
  return undefined
}
