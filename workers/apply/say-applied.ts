import { hash } from 'node:crypto'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import type { AppIdentity, Octokit } from '../../src/github/client/octokit.ts'
import { type AppliedNode, applyReport } from '../../src/report/apply-report.ts'
import { applyViewFor } from '../../src/report/apply-view.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import type { Installation } from '../context/installation.ts'
import { findRepository } from '../fleets/find-repository.ts'
import type { Approved } from './approved-nodes.ts'
import { withLines } from './with-lines.ts'

/** A commit that something was applied from, and its nodes. */
interface Group {
  readonly url: string
  readonly commit: string
  readonly nodes: AppliedNode[]
}

export interface Speaker {
  readonly octokit: Octokit
  readonly app: AppIdentity
  readonly installation: Installation
  /** What was said last, by cluster and commit: an unchanged resync asks nothing of GitHub. */
  readonly said: Map<string, string>
}

/** Says on each commit what became of the nodes that read it; a repository is told of its own nodes only. */
export async function sayApplied(
  speaker: Speaker,
  cluster: string,
  fleet: { readonly url: string; readonly commit: string },
  approved: Approved,
  applied: readonly AppliedNode[],
): Promise<void> {
  for (const group of groupByCommit(fleet, approved, withLines(applied, approved.nodes))) {
    const repository = await findRepository(speaker.installation, { url: group.url })
    if (!repository) continue
    const isFleet = group.url === fleet.url
    const report = applyReport(
      cluster,
      isFleet ? group.nodes : applyViewFor(group.nodes, approved.evaluation),
      group.url,
    )
    const externalId = hash('sha256', JSON.stringify(report))
    const key = `${cluster} ${group.url} ${group.commit}`
    if (speaker.said.get(key) === externalId) continue
    await publishCheckRun(
      speaker.octokit,
      speaker.app,
      { owner: repository.owner, repo: repository.name },
      {
        ...report,
        headSha: group.commit,
        externalId,
        quiet: group.nodes.every(isQuiet),
      },
    )
    speaker.said.set(key, externalId)
  }
}

function groupByCommit(
  fleet: { readonly url: string; readonly commit: string },
  approved: Approved,
  applied: readonly AppliedNode[],
): Group[] {
  const groups = new Map<string, Group>()
  for (const node of applied) {
    const source = gatedSource(approved, node.key)
    // a node that is gone, or whose content nobody saw, is the fleet's to hear of
    const at = source?.commit ? { url: source.url, commit: source.commit } : fleet
    const key = `${at.url} ${at.commit}`
    const group = groups.get(key) ?? { ...at, nodes: [] }
    group.nodes.push(node)
    groups.set(key, group)
  }
  return [...groups.values()]
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

function isQuiet({ outcome, objects }: AppliedNode): boolean {
  return outcome === 'applied' && objects.every(({ action }) => action === 'unchanged' || action === 'skipped')
}
