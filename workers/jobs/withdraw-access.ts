import { readOwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { readDeployKeyMarker } from '../../src/onboard/credential/deploy-key-record.ts'
import type { WithdrawAccess } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { githubInstallation } from '../fleets/github-installation.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { forgetDeployKey } from '../onboarding/forget-deploy-key.ts'

/** Deletes the deploy key of an onboarding that was closed without a merge. Doing it twice has no further effect. */
export async function withdrawAccess(context: WorkerContext, data: WithdrawAccess): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const app = await context.app.identity()
  const pull = await readOwnPull(reader, app, data, data.pull)
  if (pull?.state !== 'closed') return
  const record = readDeployKeyMarker(pull.body, context.config.privateKey)
  const fleet = await openRepository(context, data, reader)
  if (!record || record.fleet !== fleet?.repository.id) return
  const act = { context, app, fleet: { installation: data.installation, url: fleet.repository.url } }
  await forgetDeployKey(act, githubInstallation(context, data.installation, reader), record)
}
