import { evaluateAgain } from './evaluate-again.ts'
import type { EventJobs, Payload, RepositoryTarget } from './event-jobs.ts'

/**
 * "Re-run" and the buttons of our own check runs. Other Apps' runs and their buttons are theirs; `created` and
 * `completed` are our own doing: https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_run
 */
export const checkRun: EventJobs<'check_run'> = {
  event: 'check_run',
  jobs: (payload, place, us) => {
    if (payload.check_run.app?.id !== us) return []
    if (payload.action === 'rerequested') return again(payload, place, { rerun: true })
    if (payload.action !== 'requested_action' || payload.sender.type !== 'User') return []
    const action = payload.requested_action?.identifier
    if (action === 'evaluate') return again(payload, place)
    if (action !== 'fix' && action !== 'waive') return []
    return [
      { name: 'check-action', data: { ...place, check: payload.check_run.id, action, login: payload.sender.login } },
    ]
  },
}

function again(
  { check_run: run }: Payload<'check_run'>,
  place: RepositoryTarget,
  asked: { readonly rerun?: true } = {},
) {
  return evaluateAgain(place, run.head_sha, run.check_suite?.head_branch, asked)
}
