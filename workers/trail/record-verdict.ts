import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/errors.ts'
import { NO_DECISIONS } from '../../src/gate/circumstances.ts'
import { decide } from '../../src/gate/decide.ts'
import type { AppIdentity, RepositoryName } from '../../src/github/client/octokit.ts'
import type { TrailAnchor, TrailRevision } from '../../src/trail/trail-entry.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from '../evaluate/commit-outcome.ts'
import { githubInstallation } from '../fleets/github-installation.ts'
import { recordDecision } from './record-decision.ts'

/** The repository of a verdict, and the pull request where it is about one. */
interface VerdictPlace extends RepositoryName {
  readonly installation: number
  readonly pull?: number
}

type PublishedVerdict = Pick<CommitOutcome, 'outcome' | 'context'>

/**
 * Records a published verdict in the trail of its fleet, after the approvals that it counts. A verdict that belongs to no fleet
 * is not recorded. An error before the fleet was known belongs to the fleet of that repository, or to the only fleet of
 * the installation.
 */
export async function recordVerdict(
  context: WorkerContext,
  { installation, owner, repo, pull }: VerdictPlace,
  app: AppIdentity,
  check: string,
  published: PublishedVerdict,
): Promise<TrailAnchor | undefined> {
  const { outcome, context: report } = published
  if (context.outbox === undefined) return undefined
  const url = report.fleet?.repository ?? (await fleetOfError(context, installation, published))
  if (url === undefined) return undefined
  const fleet = { installation, url }
  const commit = report.headSha
  const decisions = report.decisions ?? NO_DECISIONS
  const about = { repository: `${owner}/${repo}`, commit, ...(pull === undefined ? {} : { pull }) }
  for (const { rule, by } of decisions.approvals ?? []) {
    const id = `approval ${owner}/${repo}@${commit} ${rule} ${by}`
    const approval = { ...about, kind: 'approval', who: by, result: rule, revisions: [] } as const
    await recordDecision(context, fleet, { ...approval, id, digest: hash('sha256', id) })
  }
  const digest = hash('sha256', JSON.stringify([outcomeOf(outcome), report.decisions ?? null]))
  return recordDecision(context, fleet, {
    ...about,
    id: `verdict ${owner}/${repo}@${commit} ${check} ${digest}`,
    ...{ kind: 'verdict', who: `${app.slug}[bot]`, digest },
    result: decide(outcome, decisions).conclusion,
    revisions: revisionsOf(report),
  })
}

const outcomeOf = (outcome: CommitOutcome['outcome']) =>
  outcome instanceof BailiwickError ? { error: outcome.code, message: outcome.message } : (outcome ?? null)

/** Everything that was read for it, each repository at its commit, in a fixed order. */
function revisionsOf({ fleet, nodes = [] }: CommitOutcome['context']): TrailRevision[] {
  const read = [
    ...(fleet ? [{ url: fleet.repository, commit: fleet.commit }] : []),
    ...nodes.flatMap(({ source, charts = [] }) => [source, ...(source.includes ?? []), ...charts]),
  ]
  const all = new Map(
    read
      .filter(({ commit }) => /^([0-9a-f]{40}|sha256:[0-9a-f]{64})$/.test(commit))
      .map(({ url, commit }) => [`${url} ${commit}`, { repository: url, commit }]),
  )
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, revision]) => revision)
}

async function fleetOfError(
  context: WorkerContext,
  id: number,
  { outcome, context: { repository } }: PublishedVerdict,
): Promise<string | undefined> {
  if (!(outcome instanceof BailiwickError)) return undefined
  try {
    const installation = githubInstallation(context, id, await context.app.reader(id))
    const urls = (await installation.designation()).fleets.map(fleet => fleet.repository.url)
    const own = urls.includes(repository) ? repository : undefined
    const url = own ?? (new Set(urls).size === 1 ? urls[0] : undefined)
    if (url !== undefined || urls.length === 0) return url
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
  }
  context.log.warn(
    { repository, code: outcome.code },
    'an error is in no trail: it is not known which fleet it concerns',
  )
  return undefined
}
