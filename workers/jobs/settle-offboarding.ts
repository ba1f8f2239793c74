import { readOwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import type { OffboardRecord } from '../../src/offboard/offboard-record.ts'
import type { Attempt, SettleOffboarding } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { findRepository } from '../fleets/find-repository.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { advanceOffboarding, isDecided, planOf, recordOf } from '../offboarding/advance-offboarding.ts'
import type { OffboardingPlace } from '../offboarding/offboarding-place.ts'
import { keysOfTenant, removeKeys } from '../offboarding/tenant-keys.ts'
import { openPlace } from '../publish/open-place.ts'

/**
 * Goes on with an offboarding after a merge: opens the next pull request when the last is applied on every cluster, and
 * deletes the tenant's deploy keys when the tenant is on no cluster anymore. Doing it twice has no further effect.
 */
export async function settleOffboarding(
  context: WorkerContext,
  data: SettleOffboarding,
  attempt: Attempt,
): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const pull = await readOwnPull(reader, await context.app.identity(), data, data.pull)
  const subject = pull?.state === 'merged' ? await openRepository(context, data, reader) : undefined
  if (!pull || !subject) return
  const { installation, repository: fleet } = subject
  const record = recordOf({ context, fleet }, pull)
  if (!record) return
  const here = { context, place: await openPlace(context, data, fleet.id), reader, installation, fleet, attempt }
  await context.queue.withLock(`offboard ${fleet.id} ${record.tenant}`, async () => {
    const { stage } = await planOf(here, record)
    if (record.stage === 'rest') await removeDeployKeys(here, record)
    // where the fleet is at something else, a command says what to do
    else if (stage === 'rest' && !(await isDecided(here, record, stage, pull.number)))
      await advanceOffboarding(here, record, false)
  })
}

/** A tenant that stays on a cluster goes on reading with its key. */
async function removeDeployKeys(here: OffboardingPlace, { tenant, sources }: OffboardRecord): Promise<void> {
  const { context, installation } = here
  if ((await planOf(here, { tenant, clusters: [] })).stage !== 'done') return
  if (!(await context.app.mayAdminister(installation.id))) {
    context.log.warn({ tenant }, 'deploy keys were not deleted: the App may not administer repositories')
    return
  }
  for (const url of sources) {
    const found = await findRepository(installation, { url: normaliseUrl(url) })
    if (!found) continue
    const repository = { owner: found.owner, repo: found.name, id: found.id }
    const keys = await keysOfTenant(here, repository, tenant)
    if (keys.length > 0) {
      await removeKeys(
        here,
        repository,
        keys.map(({ key }) => key),
      )
    }
  }
}
