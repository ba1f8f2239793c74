import type { Heard, Payload } from './heard.ts'

/**
 * A pull request that is new, moved, or aims elsewhere is judged. Retargeting counts, because a verdict belongs to
 * one base branch: https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request
 */
export const pullRequest: Heard<'pull_request'> = {
  event: 'pull_request',
  jobs: (payload, place) =>
    asksForVerdict(payload)
      ? [{ name: 'validate-pull-request', data: { ...place, pull: payload.pull_request.number } }]
      : [],
}

function asksForVerdict(payload: Payload<'pull_request'>): boolean {
  switch (payload.action) {
    case 'opened':
    case 'synchronize':
    case 'reopened':
    case 'ready_for_review':
      return true
    case 'edited':
      return payload.changes.base !== undefined
    default:
      return false
  }
}
