import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/errors.ts'
import { NO_CIRCUMSTANCES } from '../../src/gate/circumstances.ts'
import { decide } from '../../src/gate/decide.ts'
import type { AppIdentity, RepositoryName } from '../../src/github/client/octokit.ts'
import type { TrailAnchor, TrailRevision } from '../../src/trail/trail-entry.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { Said } from '../evaluate/said.ts'
import { recordDecision } from './record-decision.ts'

/** The repository of a verdict, and the pull request where it is about one. */
interface VerdictPlace extends RepositoryName {
  readonly installation: number
  readonly pull?: number
}

/** Has a verdict that was published written to the trail of the fleet that gave it. What no fleet reads is in no trail. */
export async function recordVerdict(
  context: WorkerContext,
  { installation, owner, repo, pull }: VerdictPlace,
  app: AppIdentity,
  check: string,
  { outcome, context: said }: Pick<Said, 'outcome' | 'context'>,
): Promise<TrailAnchor | undefined> {
  if (said.fleet === undefined) return undefined
  const commit = said.headSha
  const digest = hash('sha256', JSON.stringify([outcomeOf(outcome), said.circumstances ?? null]))
  return recordDecision(
    context,
    { installation, url: said.fleet.repository },
    {
      id: `verdict ${owner}/${repo}@${commit} ${check} ${digest}`,
      ...{ kind: 'verdict', who: `${app.slug}[bot]`, repository: `${owner}/${repo}`, commit, digest },
      ...(pull === undefined ? {} : { pull }),
      result: decide(outcome, said.circumstances ?? NO_CIRCUMSTANCES).conclusion,
      revisions: revisionsOf(said),
    },
  )
}

const outcomeOf = (outcome: Said['outcome']) =>
  outcome instanceof BailiwickError ? { error: outcome.code, message: outcome.message } : (outcome ?? null)

/** Everything that was read for it, each repository at its commit, in a fixed order. */
function revisionsOf({ fleet, nodes = [] }: Said['context']): TrailRevision[] {
  const read = [
    ...(fleet ? [{ url: fleet.repository, commit: fleet.commit }] : []),
    ...nodes.flatMap(({ source, charts = [] }) => [source, ...(source.includes ?? []), ...charts]),
  ]
  const all = new Map(
    read
      .filter(({ commit }) => /^[0-9a-f]{40}$/.test(commit))
      .map(({ url, commit }) => [`${url} ${commit}`, { repository: url, commit }]),
  )
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, revision]) => revision)
}
