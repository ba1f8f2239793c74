import type { Heard } from './heard.ts'
import { lookAtAll } from './look-at-all.ts'

/** A ruleset of a repository or of the whole organization changed: which checks it requires is asked of GitHub. */
export const repositoryRuleset: Heard<'repository_ruleset'> = {
  event: 'repository_ruleset',
  jobs: (_, place) => lookAtAll(place),
}
