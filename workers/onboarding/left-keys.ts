import { isTitleOf } from '../../src/credentials/deploy-key-title.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { type ListedDeployKey, listDeployKeys } from '../../src/github/keys/deploy-keys.ts'
import type { OwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { readDeployKeyMarker } from '../../src/onboard/credential/deploy-key-record.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { onboardingBranch } from './onboarding-branch.ts'

/** A fleet whose onboardings are looked at. */
interface OnboardedFleet {
  readonly context: Pick<WorkerContext, 'config'>
  readonly installation: Installation
  readonly octokit: Octokit
  readonly fleet: ReadableRepository
}

/** Of these pull requests, the onboardings that were closed without a merge and whose deploy key still exists. */
export async function leftKeys(
  { context, installation, octokit, fleet }: OnboardedFleet,
  pulls: readonly OwnPull[],
): Promise<readonly OwnPull[]> {
  const left: OwnPull[] = []
  const listed = new Map<number, readonly ListedDeployKey[]>()
  for (const pull of pulls) {
    const record = pull.state === 'closed' ? readDeployKeyMarker(pull.body, context.config.privateKey) : undefined
    if (record?.fleet !== fleet.id || pull.branch !== onboardingBranch(record.tenant)) continue
    const repository = (await installation.repositories()).find(({ id }) => id === record.repository)
    if (!repository) continue
    const name = { owner: repository.owner, repo: repository.name }
    const keys = listed.get(repository.id) ?? (await listDeployKeys(octokit, name).catch(notVisible))
    listed.set(repository.id, keys)
    const owner = { tenant: record.tenant, fleet: `${fleet.owner}/${fleet.name}` }
    if (keys.some(({ key, title }) => key === record.key && isTitleOf(title, owner))) left.push(pull)
  }
  return left
}

/** Keys that the App may not list it may not delete either. */
function notVisible(error: unknown): readonly ListedDeployKey[] {
  if (error instanceof BailiwickError && (error.code === 'not-permitted' || error.code === 'git-missing')) return []
  throw error
}
