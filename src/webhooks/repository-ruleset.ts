import type { Heard } from './heard.ts'
import { lookAtGate } from './look-at-all.ts'

/** A ruleset of a repository or of the whole organisation changed: whether our check is still required is asked of GitHub. */
export const repositoryRuleset: Heard<'repository_ruleset'> = {
  event: 'repository_ruleset',
  jobs: (_, place) => lookAtGate(place),
}
