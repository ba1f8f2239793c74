import type { EventJobs } from './event-jobs.ts'

const BRANCH = 'refs/heads/'

/**
 * A merge queue asks what its group would make of the branch; without an answer on the group's own commit nothing of it
 * is ever merged: https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group
 */
export const mergeGroup: EventJobs<'merge_group'> = {
  event: 'merge_group',
  jobs: ({ action, merge_group: group }, place) => {
    if (action !== 'checks_requested' || !group.base_ref.startsWith(BRANCH)) return []
    const branch = group.base_ref.slice(BRANCH.length)
    return [{ name: 'validate-merge-group', data: { ...place, branch, sha: group.head_sha, base: group.base_sha } }]
  },
}
