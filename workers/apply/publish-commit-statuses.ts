import { BailiwickError } from '../../src/errors.ts'
import type { Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { readCommitStatuses, writeCommitStatus } from '../../src/github/statuses/write-commit-status.ts'
import { type CommitStatus, commitStatus } from '../../src/report/applied/commit-status.ts'
import type { Installation } from '../context/installation.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { findRepository } from '../fleets/find-repository.ts'
import type { CommitOf } from './applied-groups.ts'
import type { Approved } from './approved-nodes.ts'
import type { RunReport } from './run-report.ts'
import type { StatusMemory } from './status-memory.ts'

/** What writes them, as whom, and where. */
interface StatusWriter {
  readonly context: Pick<WorkerContext, 'bindings' | 'log'>
  readonly octokit: Octokit
  readonly installation: Pick<Installation, 'repositories' | 'leadsTo'>
  readonly memory: { readonly statuses: StatusMemory }
}

type Results = Pick<RunReport, 'cluster' | 'applied' | 'problem'> & { readonly approved: Pick<Approved, 'nodes'> }

interface Due extends CommitOf {
  readonly status: CommitStatus
}

/** GitHub takes 500 writes an hour that create content, and checks and comments go first. */
const MAX_IN_A_RUN = 30
const MAX_IN_AN_HOUR = 200

/**
 * Writes a commit status for each Kustomization of which the commit that it reads says something else, failures first; what
 * does not fit is written after a later run, as it is then. What GitHub does not let the App write is logged once an hour,
 * and nothing else waits for it.
 */
export async function publishCommitStatuses(writer: StatusWriter, report: Results): Promise<void> {
  const { context, installation, octokit } = writer
  const { statuses } = writer.memory
  const binding = context.bindings.find(({ name }) => name === report.cluster)
  if (binding?.commitStatuses !== true || report.problem !== undefined) return
  let left = Math.min(MAX_IN_A_RUN, MAX_IN_AN_HOUR - statuses.written)
  const due = dueStatuses(report).sort((a, b) => a.status.state.localeCompare(b.status.state))
  for (const [where, all] of Map.groupBy(due, ({ url, commit }) => `${url} ${commit}`)) {
    const { url, commit } = all[0]!
    const repository = await findRepository(installation, { url })
    if (!repository || left <= 0 || statuses.isSilent(url) || statuses.isSilent(where)) continue
    const place = { owner: repository.owner, repo: repository.name }
    try {
      const said = statuses.of(where) ?? statuses.keep(where, await saidOn(octokit, place, commit))
      for (const { status } of all) {
        const text = textOf(status)
        if (left <= 0 || said.get(status.context) === text) continue
        left--
        statuses.note()
        await writeCommitStatus(octokit, place, commit, status)
        said.set(status.context, text)
      }
    } catch (err) {
      // the rest would wait as well, and is written after a later run
      if (err instanceof BailiwickError && err.code === 'github-unavailable') return
      const isForbidden = err instanceof BailiwickError && err.code === 'not-permitted'
      statuses.silence(isForbidden ? url : where)
      const hint = isForbidden ? '. Grant the App `statuses: write`, or remove `commitStatuses` from clusters.yaml' : ''
      context.log.warn(
        { err, cluster: report.cluster, repository: url, commit },
        `no commit statuses are written${hint}`,
      )
    }
  }
}

/** Each on the commit that its Kustomization reads. What git no longer has, and what has a source without a commit, has none. */
function dueStatuses({ applied, approved }: Results): Due[] {
  const nodes = new Map(approved.nodes.map(node => [node.key, node]))
  return applied.flatMap(one => {
    const source = nodes.get(one.key)?.source
    const status = commitStatus(one)
    // one that only a tenant's declaration leads to is none of the repository's own
    if (!status || !source?.commit || source.lent) return []
    return [{ url: source.url, commit: source.commit, status }]
  })
}

const textOf = ({ state, description }: { readonly state: string; readonly description: string }): string =>
  `${state} ${description}`

/** What another process wrote there, or this one before it was started again. */
async function saidOn(octokit: Octokit, place: RepositoryName, commit: string): Promise<Map<string, string>> {
  const latest = await readCommitStatuses(octokit, place, commit)
  return new Map([...latest].map(([context, status]) => [context, textOf(status)]))
}
