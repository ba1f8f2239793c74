import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import type { Approved } from './approved-nodes.ts'

/** A commit of a repository. */
export interface CommitOf {
  readonly url: string
  readonly commit: string
}

/** A commit that something was applied from, and its nodes. */
interface Group extends CommitOf {
  readonly nodes: AppliedNode[]
}

/** What was applied, by the commit that it came from. */
export function groupByCommit(fleet: CommitOf, approved: Approved, applied: readonly AppliedNode[]): Group[] {
  const groups = new Map<string, Group>()
  for (const node of applied) {
    const at = commitOf(fleet, approved, node.key)
    const key = `${at.url} ${at.commit}`
    const group = groups.get(key) ?? { ...at, nodes: [] }
    group.nodes.push(node)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** The commit that a node is reported on. A node that is gone, or whose content is not visible, is reported to the fleet. */
export function commitOf(fleet: CommitOf, approved: Approved, key: string): CommitOf {
  const source = gatedSource(approved, key)
  return source?.commit ? { url: source.url, commit: source.commit } : fleet
}

/** What a node reads; of one that only a tenant's declaration leads to, what that declaration stands in. */
function gatedSource({ nodes }: Approved, key: string): EvaluatedNode['source'] | undefined {
  let node = nodes.find(one => one.key === key)
  while (node?.source.lent) {
    const { parent } = node
    node = nodes.find(one => one.key === parent)
  }
  return node?.source
}
