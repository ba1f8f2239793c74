import type { ValidatePush } from '../../src/queue/queue.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { readFleets } from './read-fleets.ts'

/**
 * Evaluates the fleets again that read a branch only because a tenant declares it: nothing is published on its own
 * repository, so what a push there breaks is reported on the fleet.
 */
export async function wakeLenders(
  context: WorkerContext,
  { installation, repository }: OpenedRepository,
  { branch }: Pick<ValidatePush, 'branch'>,
): Promise<void> {
  for (const { place, commit: sha, sources } of await readFleets(context, installation)) {
    const isLent = sources.some(one => one.lent && one.url === repository.url && one.ref.branch === branch)
    if (!isLent) continue
    const { owner, name: repo } = place.repository
    await context.queue.add('validate-push', { installation: installation.id, owner, repo, branch: place.branch, sha })
  }
}
