import { hash } from 'node:crypto'
import type { OfferedFix } from '../../src/fix/suggestions.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { newFolders } from '../../src/onboard/completion/new-folders.ts'
import type { Completion } from '../../src/onboard/completion/plan-completion.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from './commit-outcome.ts'

/**
 * What new tenants of a fleet's own pull request lack. Asks nothing where no folder is new. It is an offer beside the verdict: where
 * it cannot be computed, the log has the reason and nothing is offered.
 */
export async function readCompletions(
  { evaluator, log }: WorkerContext,
  { installation, repository }: OpenedRepository,
  pull: PullRequest,
  { context, tree: after }: CommitOutcome,
): Promise<readonly Completion[]> {
  const { url } = repository
  if (!after || context.fleet?.repository !== url) return []
  const branch = pull.base.ref
  try {
    const commit = await installation.head(repository, { branch })
    if (!commit) return []
    const before = await installation.content(repository, commit)
    if (newFolders(openSnapshot(before), openSnapshot(after)).length === 0) return []
    const answer = await evaluator.evaluate({ type: 'complete', before, after, url, branch })
    return answer.type === 'completions' ? answer.completions : []
  } catch (err) {
    log.warn({ err, pull: `${url}#${pull.number}` }, 'what new tenants lack was not computed')
    return []
  }
}

/** Suggestions on the lines of files that the change has already. */
export function completionFixes(completions: readonly Completion[]): OfferedFix[] {
  return completions.flatMap(({ tenant, files }) =>
    files
      .filter(({ after }) => after > 0)
      .map(({ path, content, added, after: line }) => {
        const lines = [content.split('\n')[line - 1]!, ...added]
        const id = hash('sha256', JSON.stringify([path, lines])).slice(0, 20)
        return { id, path, first: line, last: line, lines, findings: [], reason: `Tenant \`${tenant}\` lacks this.` }
      }),
  )
}
