import type { Node } from '../../kube/node.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'

/**
 * Whether a value matches a scalar of a pattern of Kyverno: alternatives by `|`, conditions by `&`, `!`, wildcards
 * (github.com/kyverno/kyverno, pkg/engine/pattern). Undefined for what is not decided here: comparisons of numbers,
 * quantities and durations, and variables.
 */
export function matchesValue(pattern: Node, value: Node | undefined): boolean | undefined {
  if (pattern.type !== 'scalar') return undefined
  if (value !== undefined && value.type !== 'scalar') return pattern.value === '*'
  const given = value?.value ?? null
  if (typeof pattern.value !== 'string') return pattern.value === given
  if (pattern.value.includes('{{') || pattern.value.includes('$(')) return undefined
  if (given === null) return pattern.value === ''
  const text = String(given)
  const alternatives = pattern.value.split('|').map(one => allOf(one, text))
  if (alternatives.includes(true)) return true
  return alternatives.includes(undefined) ? undefined : false
}

function allOf(pattern: string, text: string): boolean | undefined {
  const conditions = pattern.split('&').map(one => matchesOne(one.trim(), text))
  if (conditions.includes(false)) return false
  return conditions.includes(undefined) ? undefined : true
}

function matchesOne(pattern: string, text: string): boolean | undefined {
  if (/^[<>]/.test(pattern)) return undefined
  if (pattern.startsWith('!')) return !matchesWildcard(pattern.slice(1).trim(), text)
  return matchesWildcard(pattern, text)
}
