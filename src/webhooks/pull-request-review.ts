import type { EventJobs } from './event-jobs.ts'

/**
 * A review that agrees, objects, or is taken back may meet a demand. What it says is asked of GitHub; a review that only
 * comments changes nothing: https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request_review
 */
export const pullRequestReview: EventJobs<'pull_request_review'> = {
  event: 'pull_request_review',
  jobs: (payload, place) => {
    const counts = payload.action === 'dismissed' || (payload.action === 'submitted' && decides(payload.review.state))
    return counts ? [{ name: 'validate-pull-request', data: { ...place, pull: payload.pull_request.number } }] : []
  },
}

function decides(state: string): boolean {
  return ['approved', 'changes_requested'].includes(state.toLowerCase())
}
