import { message, part } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit } from '../client/octokit.ts'

/** A team as GitHub's paths name it. */
export interface Team {
  readonly org: string
  readonly slug: string
}

/**
 * Whether a person is in one of these teams, or in one below it, now; an invitation that waits is none, and neither is a
 * team that there is not. Needs `members: read`.
 */
export async function isInTeams(octokit: Octokit, teams: readonly Team[], login: string): Promise<boolean> {
  for (const { org, slug } of teams) {
    const found = await unlessMissing(
      message`read whether somebody is in the team ${part('identity', `${org}/${slug}`)}`,
      () => octokit.rest.teams.getMembershipForUserInOrg({ org, team_slug: slug, username: login }),
    )
    if (found?.data.state === 'active') return true
  }
  return false
}
