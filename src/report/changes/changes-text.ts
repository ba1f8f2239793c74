import { type Changes, isUnchanged, sumCounts } from '../../diff/changes.ts'
import { code } from '../../message/markdown.ts'
import { changeLists } from './change-lists.ts'
import { changeSections } from './change-sections.ts'
import { countsText } from './counts-text.ts'
import { fitLevels } from './fit-levels.ts'

/**
 * What a change does, as Markdown by itself: the answer to `diff`. `cluster`: of that one only. At most 60,000 characters;
 * what is too long becomes shorter by rule, and says so. `page`: address of the page that has all of it.
 */
export function changesText(changes: Changes, options: { cluster?: string; page?: string } = {}): string {
  const { cluster, page } = options
  const shown = cluster === undefined ? changes : ofCluster(changes, cluster)
  const where = cluster === undefined ? '' : ` on ${code(cluster, 80)}`
  if (isUnchanged(shown)) return `No rendered changes${where}.`
  const counts = countsText(shown.totals)
  const head = `Rendered changes${where}${counts === '' ? '' : `: ${counts}`}`
  return fitLevels(head, level => [...changeLists(shown), ...changeSections(shown, level)], page)
}

function ofCluster(changes: Changes, cluster: string): Changes {
  const nodes = changes.nodes.filter(node => node.cluster === cluster)
  return {
    ...changes,
    nodes,
    rights: changes.rights.filter(right => right.cluster === cluster),
    // of a tenant with clusters that are not listed it may be one
    tenants: changes.tenants.filter(tenant => tenant.clusters.includes(cluster) || tenant.left.clusters > 0),
    clusters: changes.clusters.filter(({ name }) => name === cluster),
    totals: sumCounts(nodes.map(node => node.counts)),
    // what is not listed may be of any cluster
    hidden: 0,
  }
}
