import type { EventJobs } from './event-jobs.ts'
import { surveyInstallation } from './survey-installation.ts'

/** Repositories that came are evaluated; one that went may have been the source of a fleet. */
export const installationRepositories: EventJobs<'installation_repositories'> = {
  event: 'installation_repositories',
  jobs: (_, place) => surveyInstallation(place),
}
