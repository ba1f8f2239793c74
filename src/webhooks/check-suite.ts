import type { Heard } from './heard.ts'
import { judgeAgain } from './judge-again.ts'

/** "Re-run all checks" of ours: https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_suite */
export const checkSuite: Heard<'check_suite'> = {
  event: 'check_suite',
  jobs: ({ action, check_suite: suite }, place, us) => {
    if (action !== 'rerequested' || suite.app?.id !== us) return []
    return judgeAgain(place, suite.head_sha, suite.head_branch, { rerun: true })
  },
}
