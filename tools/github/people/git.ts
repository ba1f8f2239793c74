import { commitFiles } from '../actions/commit-files.ts'
import { moveRef } from '../actions/move-ref.ts'
import { mayPush } from '../actions/protection.ts'
import { mustBeWritable } from '../actions/repository.ts'
import type { FileContent } from '../git/trees.ts'
import { HttpError } from '../http/http-error.ts'
import { repositoryJson } from '../json/repository.ts'
import { atLeast, type Repository, roleOf, type User, type World } from '../world.ts'
import { type Directory, personWith } from './directory.ts'

export interface Push {
  /** `owner/name` */
  readonly repo: string
  readonly branch?: string
  readonly files?: Readonly<Record<string, FileContent>>
  readonly remove?: readonly string[]
  readonly message?: string
  readonly as: string
  /** Commit to stand on; one that is not the branch's tip makes this a force push. */
  readonly parent?: string
}

/** What people do with git. Throws as the server of git refuses a push. */
export function onGit(world: World, { userNamed, repositoryNamed, addRepository }: Directory) {
  function writer(login: string, repository: Repository): User {
    const user = userNamed(login)
    mustBeWritable(repository)
    if (atLeast(roleOf(world, repository, user), 'write')) return user
    throw new HttpError(403, `Permission to ${repository.owner.login}/${repository.name}.git denied to ${login}.`)
  }

  /** Commits and pushes as `git push` does; without files it is an empty commit. Returns the commit. */
  function push(wanted: Push) {
    const repository = repositoryNamed(wanted.repo)
    const by = writer(wanted.as, repository)
    const branch = wanted.branch ?? repository.defaultBranch
    const commit = { ...wanted, branch, by, message: wanted.message ?? 'Change' }
    const allow = (sha: string) => mayPush(world, repository, branch, sha, { kind: 'user', user: by })
    return commitFiles(world, repository, commit, allow)
  }

  /** Pushes a commit that is there already to a branch (a new branch, a reset), or with null deletes the branch. */
  function pushRef(wanted: { repo: string; branch: string; sha: string | null; as: string }): void {
    const repository = repositoryNamed(wanted.repo)
    const by = writer(wanted.as, repository)
    mayPush(world, repository, wanted.branch, wanted.sha ?? undefined, { kind: 'user', user: by })
    moveRef(world, repository, `refs/heads/${wanted.branch}`, wanted.sha ?? undefined, by)
  }

  /** Forks a repository that the person may read; the fork has the name and the visibility of the original. */
  function fork(repo: string, as: string): Repository {
    const parent = repositoryNamed(repo)
    personWith(world, parent, userNamed(as), 'read')
    const made = addRepository({ owner: as, name: parent.name, forkOf: repo, private: parent.private })
    world.emit(parent, userNamed(as), 'fork', { forkee: repositoryJson(world, made) })
    return made
  }

  return { push, pushRef, fork }
}
