import type { EventJobs } from './event-jobs.ts'
import { surveyInstallation } from './survey-installation.ts'

const BEGINS = ['created', 'unsuspend', 'new_permissions_accepted']

/** The App may work in an account (again, or with more rights): the first report, and all that is open there. */
export const installation: EventJobs<'installation'> = {
  event: 'installation',
  jobs: ({ action }, place) => (BEGINS.includes(action) ? surveyInstallation(place) : []),
}
