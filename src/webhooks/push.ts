import type { Heard } from './heard.ts'

const BRANCH = 'refs/heads/'
/** A release pushes several tags at once. */
const SETTLE_MS = 1_000

/**
 * A branch that moved is judged, whichever it is: some source may follow it. A tag, or a branch that is gone, has no
 * commit of its own to say anything on: who follows it is judged.
 */
export const push: Heard<'push'> = {
  event: 'push',
  jobs: ({ ref, deleted, after }, { installation, owner, repo }) => {
    const isGone = deleted || /^0+$/.test(after)
    if (ref.startsWith(BRANCH) && !isGone) {
      const branch = ref.slice(BRANCH.length)
      return [{ name: 'validate-push', data: { installation, owner, repo, branch, sha: after } }]
    }
    return [{ name: 'judge-followers', data: { installation, owner, repo, ref }, delayMs: SETTLE_MS }]
  },
}
