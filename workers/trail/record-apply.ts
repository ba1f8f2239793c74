import type { AppIdentity, RepositoryName } from '../../src/github/client/octokit.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { TrailAnchor } from '../../src/trail/trail-entry.ts'
import type { Installation } from '../context/installation.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { recordDecision } from './record-decision.ts'

/** Who reports what a run did. */
interface ApplyReporter {
  readonly context: WorkerContext
  readonly installation: Pick<Installation, 'id'>
  readonly app: AppIdentity
}

/** What a run applied from one commit. */
interface AppliedCommit {
  readonly url: string
  readonly commit: string
  readonly nodes: readonly AppliedNode[]
  /** SHA-256 of what is reported. */
  readonly digest: string
}

/** Has what was applied from a commit written to the trail of the cluster's fleet. */
export function recordApply(
  { context, installation, app }: ApplyReporter,
  { cluster, fleet }: { readonly cluster: string; readonly fleet: string },
  { owner, repo }: RepositoryName,
  { url, commit, nodes, digest }: AppliedCommit,
): Promise<TrailAnchor | undefined> {
  const outcomes = new Set(nodes.map(({ outcome }) => outcome))
  return recordDecision(
    context,
    { installation: installation.id, url: fleet },
    {
      id: `apply ${cluster} ${owner}/${repo}@${commit} ${digest}`,
      ...{ kind: 'apply', who: `${app.slug}[bot]`, repository: `${owner}/${repo}`, commit, cluster, digest },
      result: [...outcomes].sort().join(' '),
      revisions: [{ repository: url, commit }],
    },
  )
}
