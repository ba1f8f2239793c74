import type { Octokit } from '../../src/github/client/octokit.ts'
import { readCommit } from '../../src/github/contents/read-commit.ts'
import { listAllOwnPulls } from '../../src/github/pulls/list-own-pulls.ts'
import { type OwnPull, readOwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { type DeployKeyRecord, readDeployKeyMarker } from '../../src/onboard/credential/deploy-key-record.ts'
import type { WithdrawAccess } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { githubInstallation } from '../fleets/github-installation.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { forgetDeployKey } from '../onboarding/forget-deploy-key.ts'

/**
 * Deletes the deploy key of an onboarding that was closed without a merge, unless another one, open or merged, goes on with
 * the same key. Doing it twice has no further effect.
 */
export async function withdrawAccess(context: WorkerContext, data: WithdrawAccess): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const app = await context.app.identity()
  const pull = await readOwnPull(reader, app, data, data.pull)
  if (pull?.state !== 'closed') return
  const record = readDeployKeyMarker(pull.body, context.config.privateKey)
  const fleet = await openRepository(context, data, reader)
  if (!record || record.fleet !== fleet?.repository.id) return
  const others = await listAllOwnPulls(reader, app, data, pull.branch)
  for (const other of others) {
    if (other.branch !== pull.branch || other.state === 'closed') continue
    if ((await recordOf(context, reader, data, other))?.key === record.key) return
  }
  const act = { context, app, fleet: { installation: data.installation, url: fleet.repository.url } }
  await forgetDeployKey(act, githubInstallation(context, data.installation, reader), record)
}

/** By its last commit, or by its text where somebody added a commit. */
async function recordOf(
  { config }: WorkerContext,
  reader: Octokit,
  { owner, repo }: WithdrawAccess,
  pull: OwnPull,
): Promise<DeployKeyRecord | undefined> {
  const { message } = await readCommit(reader, { owner, repo }, pull.head)
  return readDeployKeyMarker(message, config.privateKey) ?? readDeployKeyMarker(pull.body, config.privateKey)
}
