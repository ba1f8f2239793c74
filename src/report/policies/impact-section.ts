import { code } from '../../message/markdown.ts'
import type { Verdict } from '../../rules/model/finding.ts'
import { blastRadius, type PolicyImpact } from './blast-radius.ts'
import { impactLines } from './impact-lines.ts'

/** The effect of changed policies on existing objects as a Markdown list; undefined if there is none. */
export function impactSection(
  verdict: Pick<Verdict, 'violations' | 'warnings'>,
  here: string,
): { readonly heading: string; readonly list: string } | undefined {
  const impacts = blastRadius(verdict)
  if (impacts.length === 0) return undefined
  const { lines, left } = impactLines(impacts, here, text => code(text, 120))
  const items = lines.flatMap(({ head, tenants }) => [`- ${head}`, ...tenants.map(line => `  - ${line}`)])
  if (left > 0) items.push(`- … and ${left} more ${left === 1 ? 'policy' : 'policies'}`)
  return { heading: impactHeading(impacts), list: items.join('\n') }
}

/** For example: `Objects that changed policies affect: 12 denied, 3 audited`. */
export function impactHeading(impacts: readonly PolicyImpact[]): string {
  const sum = (of: readonly PolicyImpact['policy']['action'][]) =>
    impacts.filter(({ policy }) => of.includes(policy.action)).reduce((all, { objects }) => all + objects, 0)
  const counts = [
    [sum(['deny']), 'denied'],
    [sum(['allow']), 'no longer denied'],
    [sum(['unverified']), 'no longer verified'],
    [sum(['warn', 'audit']), 'warned about or audited'],
    [sum(['unknown']), 'not evaluated'],
  ] as const
  const parts = counts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`)
  return `Objects that changed policies affect: ${parts.join(', ')}`
}
