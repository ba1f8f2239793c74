import type { JudgedNode } from '../finding.ts'

/** Whether a node deploys content of the repository at `url`: its source's own, what that includes, or a chart of its releases. */
export function readsFrom(node: Pick<JudgedNode, 'source' | 'charts'>, url: string): boolean {
  return addressesOf(node).includes(url)
}

/** The repositories that a node deploys content of. */
export function addressesOf({ source, charts = [] }: Pick<JudgedNode, 'source' | 'charts'>): string[] {
  return [source, ...(source.includes ?? []), ...charts].map(one => one.url)
}
