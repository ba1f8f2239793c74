import { andMore } from '../../message/and-more.ts'
import { code } from '../../message/markdown.ts'

/** Names of clusters, as Markdown; `more`: how many there are besides. */
export function clusterList(clusters: readonly string[], more = 0): string {
  const shown = clusters.slice(0, 10).map(name => code(name, 80))
  const left = clusters.length - shown.length + more
  return `${shown.join(', ')}${andMore(left)}`
}
