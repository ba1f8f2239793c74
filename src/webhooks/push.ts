import type { EventJobs } from './event-jobs.ts'

const BRANCH = 'refs/heads/'
/** What git writes for a branch that is not there. */
const NOTHING = /^0+$/
/** A release pushes several tags at once. */
const SETTLE_MS = 1_000

/**
 * A branch that moved is evaluated, whichever it is: some source may follow it. A tag, or a branch that is gone, has no
 * commit of its own to say anything on: who follows it is evaluated.
 */
export const push: EventJobs<'push'> = {
  event: 'push',
  jobs: ({ ref, deleted, before, after }, { installation, owner, repo }) => {
    const isGone = deleted || NOTHING.test(after)
    if (ref.startsWith(BRANCH) && !isGone) {
      const data = { installation, owner, repo, branch: ref.slice(BRANCH.length), sha: after }
      // whom the push concerns is what differs from what was there
      return [{ name: 'validate-push', data: NOTHING.test(before) ? data : { ...data, before } }]
    }
    return [{ name: 'evaluate-followers', data: { installation, owner, repo, ref }, delayMs: SETTLE_MS }]
  },
}
