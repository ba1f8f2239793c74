import { BailiwickError } from '../../src/errors.ts'
import { isTenancyCheck } from '../../src/gate/check-names.ts'
import { readBranchProtection } from '../../src/github/protection/protection.ts'
import { readBranchRules } from '../../src/github/protection/rulesets.ts'
import type { Queue } from '../../src/queue/queue.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'

/**
 * Reads which of our checks GitHub's effective rules require on a branch, by rulesets of repository, organization and
 * enterprise, and branch protection. Undefined if GitHub does not show the rules to the App. Cached until forgetRules.
 */
export async function requiredNames(
  { queue, memory }: Pick<WorkerContext, 'queue' | 'memory'>,
  { installation, repository, octokit }: OpenedRepository,
  branch: string,
): Promise<readonly string[] | undefined> {
  const ask = () => askNames(octokit, { owner: repository.owner, repo: repository.name }, branch)
  const generation = await queue.entries(keyOf(installation.id))
  if (Number.isNaN(generation)) return ask()
  return memory.recallAt(repository, `rules ${generation}`, `${repository.url} ${branch}`, ask)
}

/** Drops the cached rules of an installation in every process, after a change or a long time. */
export async function forgetRules(queue: Pick<Queue, 'withLock'>, installation: number): Promise<void> {
  await queue.withLock(keyOf(installation), async () => undefined)
}

const keyOf = (installation: number) => `rules of ${installation}`

async function askNames(octokit: OpenedRepository['octokit'], name: { owner: string; repo: string }, branch: string) {
  try {
    const [rules, { layer, hidden }] = await Promise.all([
      readBranchRules(octokit, name, branch),
      readBranchProtection(octokit, name, branch),
    ])
    if (hidden && !layer) return undefined
    const checks = [...rules, ...(layer ? [layer] : [])].flatMap(one => one.checks)
    return [...new Set(checks.map(({ context }) => context).filter(isTenancyCheck))].sort()
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'not-permitted') return undefined
    throw error
  }
}
