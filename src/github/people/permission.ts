import { message, part } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** From most to least. */
export type RepositoryRole = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none'

/**
 * What a person may do on a repository, asked of GitHub now; an event's `author_association` says something else. A role
 * that an organisation defined counts as the base that it extends. `none` for who is unknown.
 */
export async function readRole(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  login: string,
): Promise<RepositoryRole> {
  const found = await unlessMissing(
    message`read the permission of ${part('identity', login, JSON.stringify(login))} on ${repositoryPart({ owner, repo })}`,
    () => octokit.rest.repos.getCollaboratorPermissionLevel({ owner, repo, username: login }),
  )
  if (!found) return 'none'
  const { user, role_name: role } = found.data
  // logins move on to other people; the answer must be about the one we asked for
  if (user && user.login.toLowerCase() !== login.toLowerCase()) return 'none'
  if (isRole(role)) return role
  const can = user?.permissions
  if (can?.admin) return 'admin'
  if (can?.maintain) return 'maintain'
  if (can?.push) return 'write'
  if (can?.triage) return 'triage'
  return can?.pull ? 'read' : 'none'
}

function isRole(name: string): name is RepositoryRole {
  return ['admin', 'maintain', 'write', 'triage', 'read', 'none'].includes(name)
}
