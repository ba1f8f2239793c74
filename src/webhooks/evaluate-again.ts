import type { AskedJob, RepositoryTarget } from './event-jobs.ts'

/**
 * Has what stands on a commit evaluated again: the pull requests that it is the head of, and the branch that GitHub names
 * for it (none for a fork's: docs, rest/checks). `rerun`: GitHub put the suite back to queued and waits for a run.
 */
export function evaluateAgain(
  { installation, owner, repo }: RepositoryTarget,
  sha: string,
  branch: string | null | undefined,
  asked: { readonly rerun?: true } = {},
): readonly AskedJob[] {
  return [
    { name: 'evaluate-commit', data: { installation, owner, repo, sha, ...asked } },
    ...(branch ? [{ name: 'validate-push', data: { installation, owner, repo, branch, sha, ...asked } } as const] : []),
  ]
}
