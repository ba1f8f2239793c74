import { changeLists } from '../report/changes/change-lists.ts'
import { changeSections } from '../report/changes/change-sections.ts'
import { type Changes, isUnchanged, sumCounts } from '../report/changes/changes.ts'
import { countsText } from '../report/changes/counts-text.ts'
import { fitLevels } from '../report/fit-levels.ts'
import { code } from '../report/markdown.ts'
import { commandError, quoted } from './command-error.ts'

/** How to write it. */
export const DIFF_USAGE = 'diff [CLUSTER]'

/**
 * What a pull request changes in what the clusters get, as its readers may see it. `clusters`: the names that they know.
 * Throws `command-input` for another one.
 */
export function diffText(
  words: readonly string[],
  changes: Changes | undefined,
  clusters: readonly string[],
  page: string | undefined,
): string {
  const [cluster, more] = words
  if (more !== undefined)
    throw commandError(`${quoted(more)} is one word too many`, `Write \`/bailiwick ${DIFF_USAGE}\``)
  if (cluster !== undefined && !clusters.includes(cluster)) {
    throw commandError(`there is no cluster ${quoted(cluster)} here`, `Clusters: ${clusters.join(', ') || 'none'}.`)
  }
  const where = cluster === undefined ? '' : ` on ${code(cluster, 80)}`
  const part = changes && (cluster === undefined ? changes : changesOn(changes, cluster))
  if (!part) return `Nobody compared what the clusters get${where}: the verdict says why.`
  if (isUnchanged(part)) return `Nothing changes in what a cluster gets${where}.`
  const counts = countsText(part.totals)
  const head = `What changes in what the clusters get${where}${counts === '' ? '' : `: ${counts}`}`
  const lists = changeLists(part)
  return fitLevels(head, level => [...lists, ...changeSections(part, level)], page)
}

function changesOn(changes: Changes, cluster: string): Changes {
  const nodes = changes.nodes.filter(node => node.cluster === cluster)
  return {
    ...changes,
    nodes,
    rights: changes.rights.filter(right => right.cluster === cluster),
    tenants: changes.tenants.filter(tenant => tenant.clusters.includes(cluster)),
    clusters: changes.clusters.filter(({ name }) => name === cluster),
    totals: sumCounts(nodes.map(node => node.counts)),
  }
}
