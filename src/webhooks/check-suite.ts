import { evaluateAgain } from './evaluate-again.ts'
import type { EventJobs } from './event-jobs.ts'

/** "Re-run all checks" of ours: https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_suite */
export const checkSuite: EventJobs<'check_suite'> = {
  event: 'check_suite',
  jobs: ({ action, check_suite: suite }, place, us) => {
    if (action !== 'rerequested' || suite.app?.id !== us) return []
    return evaluateAgain(place, suite.head_sha, suite.head_branch, { rerun: true })
  },
}
