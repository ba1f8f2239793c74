import type { Installation } from '../world.ts'

/** What an app must at least read to hear an event (docs, webhook events and payloads); what is not here needs nothing. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  branch_protection_rule: ['administration'],
  check_run: ['checks'],
  check_suite: ['checks'],
  fork: ['contents'],
  issue_comment: ['issues', 'pull_requests'],
  issues: ['issues'],
  member: ['members'],
  membership: ['members'],
  merge_group: ['merge_queues'],
  organization: ['members'],
  pull_request: ['pull_requests'],
  pull_request_review: ['pull_requests'],
  pull_request_review_comment: ['pull_requests'],
  pull_request_review_thread: ['pull_requests'],
  push: ['contents'],
  repository_ruleset: ['administration'],
  team: ['members'],
  team_add: ['members'],
}

/** Whether an installation hears an event. Apps that may write checks hear of them without asking for it (docs, the same). */
export function isSubscribed({ events, permissions }: Installation, event: string): boolean {
  const isCheck = event === 'check_run' || event === 'check_suite'
  if (isCheck && permissions.checks === 'write') return true
  const needs = NEEDS[event]
  return events.includes(event) && (!needs || needs.some(name => permissions[name] !== undefined))
}
