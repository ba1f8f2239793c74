import type { DeployKeyRecord } from '../../src/onboard/credential/deploy-key-record.ts'
import type { Installation } from '../context/installation.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { type ActOf, removeRecordedKey } from '../trail/recorded-writes.ts'

/** Deletes a deploy key that Bailiwick added. Where it may not any more, the log names the repository. */
export async function forgetDeployKey(
  act: ActOf & { readonly context: WorkerContext },
  installation: Installation,
  { repository: id, tenant, key }: DeployKeyRecord,
): Promise<void> {
  const { app, log } = act.context
  const repository = (await installation.repositories()).find(one => one.id === id)
  if (!repository || !(await app.mayAdminister(installation.id))) {
    log.warn({ repository: id, tenant }, 'a deploy key was not deleted: the App may not administer the repository')
    return
  }
  const name = { owner: repository.owner, repo: repository.name }
  await app.administer(installation.id, id, octokit => removeRecordedKey(act, octokit, name, key))
}
