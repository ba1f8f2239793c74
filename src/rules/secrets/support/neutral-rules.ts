import { withoutField } from '../../../kube/edit-node.ts'
import { canonical, type Node } from '../../../kube/node.ts'
import { comparePatterns } from '../../../kustomize/select/compare-patterns.ts'
import type { CreationRule } from './sops-config.ts'

/** Fields in which two rules with the same recipients may differ. */
const FIELDS = ['age', 'pgp', 'path_regex']

/**
 * Whether `more` equals `less` plus rules that change nothing: each additional rule encrypts every path that it can match exactly as
 * the rules after it do, for the same recipients. Then it does not matter which of the two lists applies.
 */
export function areNeutral(less: readonly CreationRule[], more: readonly CreationRule[]): boolean {
  let at = 0
  for (const [index, rule] of more.entries()) {
    if (rule.text === less[at]?.text) at += 1
    else if (!isNeutral(rule, more.slice(index + 1))) return false
  }
  return at === less.length
}

function isNeutral(rule: CreationRule, behind: readonly CreationRule[]): boolean {
  const { pattern, node } = rule
  if (!pattern || node.type !== 'map') return false
  for (const other of behind) {
    const relation = other.pattern ? comparePatterns(pattern.text, other.pattern.text) : 'within'
    if (relation === 'apart') continue
    if (relation === 'unknown' || !isAlike(rule, other)) return false
    if (relation === 'within') return true
  }
  return false
}

function isAlike(one: CreationRule, other: CreationRule): boolean {
  const names = (rule: CreationRule) => [...rule.recipients.keys()].sort().join(' ')
  return names(one) !== '' && names(one) === names(other) && wayOf(one.node) === wayOf(other.node)
}

/** The settings of a rule besides its path and recipients. Recipients of other kinds count as settings. */
function wayOf(node: Node): string {
  if (node.type !== 'map') return ''
  return canonical(FIELDS.reduce((map, field) => withoutField(map, field), node))
}
