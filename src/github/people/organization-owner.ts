import { message, part } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit } from '../client/octokit.ts'

/**
 * Whether a person owns an account, asked of GitHub now: an owner of the organization, or the person whose account it is.
 * An invitation that waits is no membership. Needs `members: read`; throws where GitHub refuses to say.
 */
export async function isAccountOwner(octokit: Octokit, account: string, login: string): Promise<boolean> {
  if (account.toLowerCase() === login.toLowerCase()) return true
  const found = await unlessMissing(message`read whether somebody owns ${part('identity', account)}`, () =>
    octokit.rest.orgs.getMembershipForUser({ org: account, username: login }),
  )
  if (found?.data.state !== 'active' || found.data.role !== 'admin') return false
  return found.data.user?.login.toLowerCase() === login.toLowerCase()
}
