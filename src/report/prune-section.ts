import { type ChangePrunes, MAX_PRINTS } from '../approval/change-prunes.ts'
import { code, ownCode, prose } from '../message/markdown.ts'
import { count } from './text/headline.ts'

/** How many Kustomizations are listed. */
const MAX_NODES = 20

/** What the worker would hold back after the merge, and how it is approved before; '' for nothing. */
export function pruneSection(prunes: ChangePrunes | undefined): string {
  if (prunes === undefined) return ''
  const { digest, nodes, hidden, prints, approvedBy } = prunes
  const lines = nodes.slice(0, MAX_NODES).map(({ node, what }) => `- ${code(node)}: ${prose(what)}`)
  const left = nodes.length - lines.length
  if (left > 0) lines.push(`- and ${count(left, 'Kustomization')} more`)
  if (hidden > 0) lines.push(`- ${count(hidden, 'Kustomization')} not visible here`)
  return [
    `### Deletes much at once (${count(nodes.length + hidden, 'Kustomization')})`,
    lines.join('\n'),
    stepOf(),
  ].join('\n\n')

  function stepOf(): string {
    if (approvedBy !== undefined)
      return `${code(approvedBy, 80)} approved these objects. The worker deletes them after the merge without asking again.`
    const wait = 'The merge is not blocked. After it, the worker waits for an approval before it deletes these objects.'
    if (prints.length > MAX_PRINTS)
      return `${wait} More than ${MAX_PRINTS} objects cannot be approved before the merge.`
    return `${wait} To approve them before, a fleet admin comments ${ownCode(`/bailiwick approve-prune ${digest}`)}. A push that deletes anything else needs another approval.`
  }
}
