import { code } from '../markdown.ts'

/** Names of clusters, as Markdown. */
export function clusterList(clusters: readonly string[]): string {
  const shown = clusters.slice(0, 10).map(name => code(name, 80))
  const left = clusters.length - shown.length
  return `${shown.join(', ')}${left > 0 ? ` and ${left} more` : ''}`
}
