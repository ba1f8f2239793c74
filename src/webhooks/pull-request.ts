import type { AskedJob, EventJobs, Payload } from './event-jobs.ts'

/**
 * A pull request that is new, moved, aims elsewhere, or of which people decided something is evaluated. Retargeting counts,
 * because a verdict belongs to one base branch. A closed one leaves its check run to the others with the same head:
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request
 */
export const pullRequest: EventJobs<'pull_request'> = {
  event: 'pull_request',
  jobs: (payload, place) => {
    const { number: pull, head } = payload.pull_request
    const jobs: AskedJob[] = []
    if (asksForVerdict(payload)) jobs.push({ name: 'validate-pull-request', data: { ...place, pull } })
    if (payload.action === 'closed')
      jobs.push({ name: 'evaluate-commit', data: { ...place, sha: head.sha, closed: pull } })
    if (payload.action === 'closed' && !payload.pull_request.merged && head.ref.startsWith(ONBOARDING)) {
      jobs.push({ name: 'withdraw-access', data: { ...place, pull } })
    }
    if (payload.action === 'closed' && payload.pull_request.merged && head.ref.startsWith(OFFBOARDING)) {
      jobs.push({ name: 'settle-offboarding', data: { ...place, pull } })
    }
    return jobs
  },
}

/** Branches of ours from which tenants are onboarded. */
const ONBOARDING = 'bailiwick/onboard-'
/** And from which they are offboarded. */
const OFFBOARDING = 'bailiwick/offboard-'

function asksForVerdict(payload: Payload<'pull_request'>): boolean {
  switch (payload.action) {
    case 'opened':
    case 'synchronize':
    case 'reopened':
    case 'ready_for_review':
    case 'converted_to_draft':
      return true
    case 'edited':
      return payload.changes.base !== undefined
    case 'labeled':
    case 'unlabeled':
      return isOurLabel(payload.label?.name)
    default:
      return false
  }
}

/** Whether a label is one of those that tell us something; GitHub keeps the case of labels and does not heed it. */
function isOurLabel(name: string | undefined): boolean {
  return name?.toLowerCase().startsWith('bailiwick/') ?? false
}
