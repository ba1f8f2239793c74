import type { EventJobs, Payload } from './event-jobs.ts'
import { surveyInstallation } from './survey-installation.ts'

/**
 * A repository that is another one now, or elsewhere, or seen by others: sources that name it mean something else.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#repository
 */
export const repository: EventJobs<'repository'> = {
  event: 'repository',
  jobs: (payload, place) => (changesMeaning(payload) ? surveyInstallation(place) : []),
}

function changesMeaning(payload: Payload<'repository'>): boolean {
  switch (payload.action) {
    case 'renamed':
    case 'transferred':
    case 'archived':
    case 'unarchived':
    case 'deleted':
    case 'privatized':
    case 'publicized':
      return true
    case 'edited':
      return payload.changes.default_branch !== undefined
    default:
      return false
  }
}
