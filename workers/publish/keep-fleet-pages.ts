import type { AccessOverview, AccessView } from '../../src/access/access-overview.ts'
import type { ClusterAudit } from '../../src/audit/audit-item.ts'
import { inTurns } from '../../src/process/in-turns.ts'
import { narrowed } from '../../src/report/narrow.ts'
import { fleetPageOf } from '../../src/report/page/fleet-page-of.ts'
import type { CoveredPolicy } from '../../src/rules/policies/support/policy-coverage.ts'
import type { Installation } from '../context/installation.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { FleetAnswer } from '../fleets/evaluate-change.ts'
import { narrowerSources, withoutSources } from '../fleets/narrower-sources.ts'
import type { RevisionSetSnapshot } from '../threads/protocol.ts'

/**
 * Stores the pages of the evaluated fleets, in the state of their branches. Errors are only logged: the verdict is
 * published already, and the next push writes the page again.
 */
export async function keepFleetPages(
  context: WorkerContext,
  installation: Installation,
  answers: readonly FleetAnswer[],
): Promise<void> {
  if (context.pages.publicUrl === undefined) return
  for (const answer of answers) {
    await keepFleetPage(context, installation, answer).catch(err =>
      context.log.warn({ err, fleet: answer.place.repository.url }, 'fleet page could not be stored'),
    )
  }
}

/** How often the thread is asked to go on: a fleet of a hundred tenants is worked out whole. */
const MAX_PORTIONS = 10
/** In a fleet of a thousand a portion is a namespace or two: the command line is the place to ask there. */
const WORTHWHILE = 5

async function keepFleetPage(
  { evaluator, pages, outbox }: WorkerContext,
  installation: Installation,
  { place, fleetCommit: commit, evaluation: whole, snapshot: read }: FleetAnswer,
): Promise<void> {
  const urls = read.sources.map(source => source.url)
  const narrower = new Set(await narrowerSources(installation, place.repository.url, urls))
  const snapshot = withoutSources(read, narrower)
  const evaluation = narrowed(whole, narrower)
  const { id: repositoryId, owner, name: repo, url: repository, visibility } = place.repository
  const { audit, policies, access } = await askOverview(evaluator, snapshot)
  const fleet = {
    repository,
    branch: place.branch,
    commit,
    evaluation,
    audit,
    policies,
    access,
    trail: outbox ? 'on' : 'off',
  } as const
  const at = new Date().toISOString()
  const page = await inTurns(fleetPageOf(fleet, { owner, repo, repositoryId, visibility, at }))
  if (!(await pages.store.keep(page))) throw new Error('the page is too large')
}

/** In portions, so that pull requests are evaluated in between. What the thread refuses was said by the verdict. */
async function askOverview(evaluator: WorkerContext['evaluator'], head: RevisionSetSnapshot): Promise<Overview> {
  const namespaces: AccessView[] = []
  let found: Overview = { audit: [], policies: [], access: { namespaces, left: 0 } }
  for (let portion = 0; portion < MAX_PORTIONS; portion++) {
    const answer = await evaluator.evaluate({ type: 'overview', head, from: namespaces.length })
    if (answer.type !== 'overviewed') return found
    namespaces.push(...answer.access.namespaces)
    const { left } = answer.access
    const { audit, policies } = portion === 0 ? answer : found
    found = { audit, policies, access: { namespaces, left } }
    if (left === 0 || answer.access.namespaces.length < WORTHWHILE) break
  }
  return found
}

interface Overview {
  readonly audit: readonly ClusterAudit[]
  readonly policies: readonly CoveredPolicy[]
  readonly access: AccessOverview
}
