import type { RepositoryOptions } from '../accounts.ts'
import { mustBeWritable } from '../actions/repository.ts'
import { HttpError } from '../http/http-error.ts'
import { atLeast, type Issue, type Repository, type Role, roleOf, type User, type World } from '../world.ts'

/** Where people and repositories are found by their names. */
export interface Directory {
  userNamed(login: string): User
  repositoryNamed(name: string): Repository
  addRepository(options: RepositoryOptions): Repository
}

/** An issue or pull request of a repository (`owner/name`), and who acts on it. */
export interface OnIssue {
  readonly repo: string
  readonly issue: number
  readonly as: string
}

export interface OnPull {
  readonly repo: string
  readonly pull: number
  readonly as: string
}

/** The person, if they have the role. Throws 403 as GitHub does for a button that is not offered. */
export function personWith(world: World, repository: Repository, user: User, role: Role): User {
  if (role !== 'read') mustBeWritable(repository)
  if (atLeast(roleOf(world, repository, user), role)) return user
  throw new HttpError(403, `${user.login} has not the role ${role} in ${repository.owner.login}/${repository.name}`)
}

/** The issue or pull request of that number. Throws. */
export function issueNumbered(repository: Repository, number: number): Issue {
  const issue = repository.issues.get(number)
  if (!issue) throw new Error(`${repository.owner.login}/${repository.name} has no issue ${number}`)
  return issue
}
