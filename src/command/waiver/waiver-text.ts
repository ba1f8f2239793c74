import { code, prose } from '../../message/markdown.ts'
import { visible } from '../../message/visible.ts'
import { count } from '../../report/text/headline.ts'
import type { WaiverEntry } from './waiver-entry.ts'

/** A waiver pull request: its entries, its requester and its approver. */
export interface WaiverPull {
  readonly entries: readonly WaiverEntry[]
  /** `owner/name#number` of the pull request for which it was asked. */
  readonly of: string
  /** Who wrote that pull request. */
  readonly author: string
  readonly approver?: string
}

/** Title and body of the pull request that adds waivers. It is for readers of the fleet, so nothing is hidden. */
export function waiverText(pull: WaiverPull): { readonly title: string; readonly body: string } {
  const { entries, of, author, approver } = pull
  const [first] = entries
  const { reason = '', requester = '', expires = '' } = first ?? {}
  const rules = [...new Set(entries.map(({ rule }) => rule))]
  const what = `Waive ${rules.length === 1 ? rules[0] : count(rules.length, 'rule')}`
  const next =
    approver === undefined
      ? `Next: a fleet admin who is neither ${code(requester, 60)} nor ${code(author, 60)} comments ${code('/bailiwick approve-waiver')} here. Until then it has no effect, even if it is merged.`
      : `Approved by ${code(approver, 60)}. Next: merge it. The waiver takes effect with the merge.`
  const lines = entries.map(({ rule, cluster, kind, namespace, name, violations }) => {
    const fields = violations.map(({ field }) => field).filter(field => field !== undefined)
    const where = fields.length === 0 ? '' : `, ${fields.map(field => code(field, 200)).join(', ')}`
    return `- ${code(rule)}: ${code(`${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`)} on ${code(cluster, 80)}${where}`
  })
  return {
    title: visible(`${what} for ${of} until ${expires}`, 200),
    body: [
      `${code(requester, 60)} requests on ${of} (opened by ${code(author, 60)}) to accept this until ${code(expires)}:`,
      lines.join('\n'),
      'Only the current values are accepted. Another value is a new violation.',
      `Why: ${prose(reason)}`,
      next,
    ].join('\n\n'),
  }
}
