import type { EvaluatedNode } from '../../rules/model/finding.ts'

/**
 * Whether a node deploys content of the repository at `url` in a way that counts there: its source's own, what that includes,
 * or a chart of its releases, but nothing that only a tenant's declaration leads to: that gates nobody else's repository.
 */
export function readsFrom(node: Pick<EvaluatedNode, 'source' | 'charts'>, url: string): boolean {
  return partsOf(node).some(one => one.url === url && !one.lent)
}

/** The repositories that a node deploys content of. */
export function addressesOf(node: Pick<EvaluatedNode, 'source' | 'charts'>): string[] {
  return partsOf(node).map(one => one.url)
}

const partsOf = ({ source, charts = [] }: Pick<EvaluatedNode, 'source' | 'charts'>) => [
  source,
  ...(source.includes ?? []),
  ...charts,
]
