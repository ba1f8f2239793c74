import { fleetPageOf } from '../../src/report/page/fleet-page-of.ts'
import type { FleetAnswer } from '../combination/judge-change.ts'
import type { WorkerContext } from '../worker-context.ts'

/**
 * Keeps the pages of the fleets that were judged as they stand on their branches. What fails here is logged and no more:
 * the verdict was said, and the next push makes the page again.
 */
export async function keepFleetPages(context: WorkerContext, answers: readonly FleetAnswer[]): Promise<void> {
  if (context.pages.publicUrl === undefined) return
  for (const answer of answers) {
    await keepFleetPage(context, answer).catch(err =>
      context.log.warn({ err, fleet: answer.place.repository.url }, 'the page of a fleet could not be kept'),
    )
  }
}

async function keepFleetPage({ evaluator, pages }: WorkerContext, answer: FleetAnswer): Promise<void> {
  const { place, fleetCommit: commit, judgement, snapshot } = answer
  const { id: repositoryId, owner, name: repo, url: repository } = place.repository
  const overview = await evaluator.evaluate({ type: 'overview', head: snapshot })
  // what the thread refused was said by the verdict: the page then has no answers of its own
  const { audit, access } =
    overview.type === 'overviewed' ? overview : { audit: [], access: { namespaces: [], left: 0 } }
  const fleet = { repository, branch: place.branch, commit, judgement, audit, access }
  const page = fleetPageOf(fleet, { owner, repo, repositoryId, at: new Date().toISOString() })
  if (!(await pages.store.keep(page))) throw new Error('the page is too large')
}
