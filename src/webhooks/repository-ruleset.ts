import type { EventJobs } from './event-jobs.ts'
import { surveyInstallation } from './survey-installation.ts'

/** A ruleset of a repository or of the whole organization changed: which checks it requires is asked of GitHub. */
export const repositoryRuleset: EventJobs<'repository_ruleset'> = {
  event: 'repository_ruleset',
  jobs: (_, place) => surveyInstallation(place),
}
