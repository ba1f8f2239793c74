import { HttpError, invalid } from '../http/http-error.ts'
import { installationsOn } from '../http/permit.ts'
import { organizationSimpleJson } from '../json/organization.ts'
import { userJson } from '../json/user.ts'
import type { Repository, User, World } from '../world.ts'
import { announceSelection } from './installation.ts'

const keyOf = (owner: string, name: string) => `${owner}/${name}`.toLowerCase()

/** Renames a repository; its old address leads to it until another takes the name. Throws 422 for a name that is taken. */
export function renameRepository(world: World, repository: Repository, name: string, by: User): void {
  const before = repository.name
  if (name === before) return
  move(world, repository, repository.owner, name)
  const changes = { repository: { name: { from: before } } }
  world.emit(repository, by, 'repository', { action: 'renamed', changes })
}

/**
 * Hands a repository to another account. Apps of the old one lose it, those of the new one that have all repositories get
 * it, and only these hear `repository.transferred` (docs, webhook events and payloads).
 */
export function transferRepository(world: World, repository: Repository, to: User, by: User): void {
  const from = repository.owner
  const losing = installationsOn(world, repository)
  move(world, repository, to, repository.name)
  for (const installation of losing) {
    if (installation.repositories !== 'all') installation.repositories.delete(repository.id)
    announceSelection(world, installation, { added: [], removed: [repository] }, by)
  }
  for (const installation of installationsOn(world, repository)) {
    announceSelection(world, installation, { added: [repository], removed: [] }, by)
  }
  const who =
    from.type === 'Organization'
      ? { organization: organizationSimpleJson(world, from) }
      : { user: userJson(world, from) }
  world.emit(repository, by, 'repository', { action: 'transferred', changes: { owner: { from: who } } })
}

/** Makes a repository read-only, or ends it. */
export function archiveRepository(world: World, repository: Repository, archived: boolean, by: User): void {
  if (repository.archived === archived) return
  repository.archived = archived
  world.emit(repository, by, 'repository', { action: archived ? 'archived' : 'unarchived' })
}

/** Deletes a repository: it is gone with everything in it, and its address leads nowhere. */
export function deleteRepository(world: World, repository: Repository, by: User): void {
  const losing = installationsOn(world, repository)
  world.emit(repository, by, 'repository', { action: 'deleted' })
  repository.deleted = true
  world.repositories.delete(keyOf(repository.owner.login, repository.name))
  for (const [old, id] of world.moved) if (id === repository.id) world.moved.delete(old)
  for (const installation of losing) {
    if (installation.repositories !== 'all') installation.repositories.delete(repository.id)
    announceSelection(world, installation, { added: [], removed: [repository] }, by)
  }
}

/** Lets everybody see a repository, or only who has a role. */
export function publishRepository(world: World, repository: Repository, isPrivate: boolean, by: User): void {
  if (repository.private === isPrivate) return
  repository.private = isPrivate
  world.emit(repository, by, 'repository', { action: isPrivate ? 'privatized' : 'publicized' })
  if (!isPrivate) world.emit(repository, by, 'public', {})
}

/** Makes another branch the default one. Throws 422 for a branch that is not there. */
export function switchDefaultBranch(world: World, repository: Repository, branch: string, by: User): void {
  const from = repository.defaultBranch
  if (branch === from) return
  if (!repository.refs.has(`refs/heads/${branch}`)) {
    throw invalid('Repository', 'default_branch', `The branch ${branch} was not found.`)
  }
  repository.defaultBranch = branch
  world.emit(repository, by, 'repository', { action: 'edited', changes: { default_branch: { from } } })
}

/** Tells of a repository that was just made, and gives it to the apps that have all. */
export function announceRepository(world: World, repository: Repository, by: User): void {
  for (const installation of installationsOn(world, repository)) {
    announceSelection(world, installation, { added: [repository], removed: [] }, by)
  }
  world.emit(repository, by, 'repository', { action: 'created' })
}

/** Throws 403 for an archived repository. */
export function mustBeWritable(repository: Repository): void {
  if (repository.archived) throw new HttpError(403, 'Repository was archived so is read-only.')
}

function move(world: World, repository: Repository, owner: User, name: string): void {
  const [old, key] = [keyOf(repository.owner.login, repository.name), keyOf(owner.login, name)]
  if (old !== key && world.repositories.has(key)) {
    throw invalid('Repository', 'name', `The repository ${owner.login}/${name} already exists.`)
  }
  world.repositories.delete(old)
  world.moved.set(old, repository.id)
  world.moved.delete(key)
  repository.owner = owner
  repository.name = name
  world.repositories.set(key, repository)
}

/** The repository that an old address leads to. */
export function movedTo(world: World, owner: string, name: string): Repository | undefined {
  const id = world.moved.get(keyOf(owner, name))
  return id === undefined ? undefined : [...world.repositories.values()].find(each => each.id === id)
}
