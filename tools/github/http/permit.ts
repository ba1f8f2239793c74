import { movedTo, mustBeWritable } from '../actions/repository.ts'
import {
  type Actor,
  type App,
  atLeast,
  type Installation,
  type InstallationActor,
  type Repository,
  roleOf,
  type User,
  type World,
} from '../world.ts'
import { HttpError, notFound } from './http-error.ts'
import type { Access, Route } from './route.ts'

/** The repository that a path names, if this caller may know of it. Throws 404 as if it were not there otherwise. */
export function visibleRepository(world: World, actor: Actor, owner: string, name: string): Repository {
  const repository = world.repositories.get(`${owner}/${name}`.toLowerCase())
  if (repository && sees(world, actor, repository)) return repository
  const moved = repository ? undefined : movedTo(world, owner, name)
  if (moved && sees(world, actor, moved)) throw new Moved(moved)
  throw notFound()
}

/** A repository has another address now. */
export class Moved extends Error {
  readonly repository: Repository

  constructor(repository: Repository) {
    super(`moved to ${repository.id}`)
    this.repository = repository
  }
}

function sees(world: World, actor: Actor, repository: Repository): boolean {
  if (actor.kind === 'installation') return covers(actor, repository) || !repository.private
  if (!repository.private) return true
  if (actor.kind !== 'user' || roleOf(world, repository, actor.user) === 'none') return false
  return actor.app === undefined || installationFor(world, actor.app, repository) !== undefined
}

/** The installations that have a repository. */
export function installationsOn(world: World, repository: Repository): Installation[] {
  return [...world.installations.values()].filter(each =>
    covers({ installation: each, repositories: 'all' }, repository),
  )
}

/** The installation of an app that has a repository; undefined where there is none, or it is suspended. */
function installationFor(world: World, app: App, repository: Repository): Installation | undefined {
  return [...world.installations.values()].find(
    each => each.app === app && !each.suspended && covers({ installation: each, repositories: 'all' }, repository),
  )
}

/** Whether an installation token was made for this repository. */
export function covers(
  actor: Pick<InstallationActor, 'installation' | 'repositories'>,
  repository: Repository,
): boolean {
  if (actor.installation.account.id !== repository.owner.id) return false
  const inInstallation = actor.installation.repositories === 'all' || actor.installation.repositories.has(repository.id)
  return inInstallation && (actor.repositories === 'all' || actor.repositories.has(repository.id))
}

/** Throws 401 or 403 unless the caller may use a route on this repository. */
export function permit(world: World, actor: Actor, repository: Repository, access: Access): void {
  if (actor.kind === 'app') throw new HttpError(401, 'Bad credentials')
  const reads = access.permissions.some(permission => permission.endsWith(':read'))
  if (!reads && access.whileArchived !== true) mustBeWritable(repository)
  if (actor.kind === 'anonymous') {
    if (!reads || access.role === 'apps-only') throw new HttpError(401, 'Requires authentication')
    return
  }
  if (actor.kind === 'user') {
    permitUser(world, repository, actor, access)
    return
  }
  const covered = covers(actor, repository)
  if (covered && access.permissions.some(permission => grants(actor, permission))) return
  if (!covered && reads && access.role !== 'admin') return // public: anybody reads
  const headers = { 'x-accepted-github-permissions': access.permissions.join('; ').replaceAll(':', '=') }
  throw new HttpError(403, 'Resource not accessible by integration', undefined, headers)
}

function permitUser(world: World, repository: Repository, actor: Actor & { kind: 'user' }, access: Access): void {
  const installation = actor.app && installationFor(world, actor.app, repository)
  if (installation && !access.permissions.some(permission => grants(installation, permission))) {
    throw new HttpError(403, 'Resource not accessible by integration')
  }
  if (access.role === 'apps-only') throw new HttpError(403, 'You must authenticate via a GitHub App.')
  if (!atLeast(roleOf(world, repository, actor.user), access.role)) {
    throw new HttpError(
      403,
      access.role === 'admin'
        ? 'Must have admin rights to Repository.'
        : 'Resource not accessible by personal access token',
    )
  }
}

function grants(actor: Pick<InstallationActor, 'permissions'>, permission: string): boolean {
  const [name = '', level] = permission.split(':')
  if (name === 'metadata') return true
  const granted = actor.permissions[name]
  return granted === 'write' || granted === 'admin' || (granted === 'read' && level === 'read')
}

/** The organisation that a path names, if this caller may ask about it. Throws 404, or 403 for want of the permission. */
export function permittedOrganization(world: World, actor: Actor, name: string, permission: string): User {
  const organization = world.users.get(name.toLowerCase())
  if (organization?.type !== 'Organization' || actor.kind === 'anonymous' || actor.kind === 'app') throw notFound()
  if (actor.kind === 'user') {
    if (!world.members.get(organization.login)?.has(actor.user.login)) throw notFound()
    return organization
  }
  if (actor.installation.account === organization && grants(actor, permission)) return organization
  const headers = { 'x-accepted-github-permissions': permission.replaceAll(':', '=') }
  throw new HttpError(403, 'Resource not accessible by integration', undefined, headers)
}

/** Throws unless the kind of caller fits a route that is not about a repository. */
export function permitGlobal(actor: Actor, route: Route): void {
  if (route.scope === 'app' && actor.kind !== 'app') {
    throw new HttpError(401, 'A JSON web token could not be decoded')
  }
  if (route.scope === 'installation' && actor.kind !== 'installation') {
    throw new HttpError(
      403,
      'You must authenticate with an installation access token in order to list repositories for an installation.',
    )
  }
  if (route.scope === 'anyone' && actor.kind === 'app') throw new HttpError(401, 'Bad credentials')
}
