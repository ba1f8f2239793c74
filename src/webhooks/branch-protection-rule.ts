import type { EventJobs } from './event-jobs.ts'
import { surveyInstallation } from './survey-installation.ts'

/** Whatever happened to a rule: which checks it requires, and of which pull requests, is asked of GitHub. */
export const branchProtectionRule: EventJobs<'branch_protection_rule'> = {
  event: 'branch_protection_rule',
  jobs: (_, place) => surveyInstallation(place),
}
