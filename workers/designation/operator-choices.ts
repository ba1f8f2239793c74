import type { FleetChoice } from '../../src/designation/designation-record.ts'
import { type FleetName, isOfAccount, namesRepository } from '../../src/designation/fleet-name.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { readRepository } from '../../src/github/contents/read-repository.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'

/**
 * What the operator's file and FLEETS name for the account of an installation; undefined in it where the App cannot read
 * the repository. Empty: the operator says nothing about this account.
 */
export async function operatorChoices(
  { bindings, config }: Pick<WorkerContext, 'bindings' | 'config'>,
  repositories: readonly ReadableRepository[],
  octokit: Octokit,
): Promise<(FleetChoice | undefined)[]> {
  const [first] = repositories
  if (!first) return []
  const account = first.url.slice(0, first.url.lastIndexOf('/'))
  const bound = bindings.map(({ fleet, branch }): FleetName => ({ repository: fleet, branch }))
  const named = [...bound, ...config.fleets].filter(name => isOfAccount(name, account))
  const choices = await Promise.all(named.map(name => choiceOf(name, repositories, octokit)))
  return [...new Map(choices.map(choice => [JSON.stringify(choice), choice])).values()]
}

/** By its address, or where GitHub leads on to from an address that it had before. */
async function choiceOf(
  name: FleetName,
  repositories: readonly ReadableRepository[],
  octokit: Octokit,
): Promise<FleetChoice | undefined> {
  const found = repositories.find(({ url }) => namesRepository(name, url)) ?? (await moved(name, repositories, octokit))
  if (!found) return undefined
  const branch = name.branch ?? found.defaultBranch
  return { repository: found.id, branch }
}

async function moved({ repository }: FleetName, repositories: readonly ReadableRepository[], octokit: Octokit) {
  const [owner = '', repo = '', more] = repository.replace(/^https:\/\/[^/]+\//, '').split('/')
  if (more !== undefined || owner === '' || repo === '') return undefined
  const present = await readRepository(octokit, { owner, repo })
  return repositories.find(({ id }) => id === present?.id)
}
