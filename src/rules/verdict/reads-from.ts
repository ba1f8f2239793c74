import type { JudgedNode } from '../finding.ts'

/** Whether a node renders content of the repository at `url`: its source's own, or what that source includes. */
export function readsFrom({ source }: JudgedNode, url: string): boolean {
  return source.url === url || (source.includes ?? []).some(included => included.url === url)
}
