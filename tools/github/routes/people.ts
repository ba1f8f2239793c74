import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { type Call, ok, onRepository, type Route } from '../http/route.ts'
import { organizationJson } from '../json/organization.ts'
import { userJson } from '../json/user.ts'
import { atLeast, type Repository, type Role, roleOf, type User, type World } from '../world.ts'

/** users, orgs, collaborators and what they may do. */
export function peopleRoutes(): Route[] {
  return [
    { scope: 'anyone', method: 'GET', path: '/user', handle: call => ok(fullUser(call.world, self(call))) },
    {
      scope: 'anyone',
      method: 'GET',
      path: '/users/{username}',
      handle: call => ok(fullUser(call.world, named(call, 'username'))),
    },
    {
      scope: 'anyone',
      method: 'GET',
      path: '/orgs/{org}',
      handle: call => ok(organizationJson(call.world, named(call, 'org'))),
    },
    { scope: 'anyone', method: 'GET', path: '/rate_limit', handle: rateLimit },
    onRepository('GET', '/collaborators', 'metadata:read', 'write', call => {
      const people = [...call.world.users.values()].filter(user => {
        return (
          user.type === 'User' &&
          (call.repo.collaborators.has(user.login) || roleOf(call.world, call.repo, user) === 'admin')
        )
      })
      return list(call, people, user => collaboratorJson(call.world, call.repo, user))
    }),
    onRepository('GET', '/collaborators/{username}', 'metadata:read', 'write', call => {
      if (roleOf(call.world, call.repo, named(call, 'username')) === 'none') throw notFound()
      return { status: 204 }
    }),
    onRepository('GET', '/collaborators/{username}/permission', 'metadata:read', 'read', call => {
      const user = named(call, 'username')
      const role = roleOf(call.world, call.repo, user)
      const permission = legacyPermission(role)
      return ok({ permission, role_name: role, user: collaboratorJson(call.world, call.repo, user) })
    }),
  ]
}

/** The older field knows neither maintain nor triage (docs, "Get repository permissions for a user"). */
function legacyPermission(role: Role): string {
  if (role === 'maintain') return 'write'
  return role === 'triage' ? 'read' : role
}

function collaboratorJson(world: World, repository: Repository, user: User) {
  const role = roleOf(world, repository, user)
  const allows = (wanted: Role) => atLeast(role, wanted)
  const permissions = {
    ...{ pull: allows('read'), triage: allows('triage'), push: allows('write') },
    ...{ maintain: allows('maintain'), admin: allows('admin') },
  }
  return { ...userJson(world, user), permissions, role_name: role }
}

function named(call: Call, param: string): User {
  const user = call.world.users.get((call.params[param] ?? '').toLowerCase())
  if (!user || (param === 'org' && user.type !== 'Organization')) throw notFound()
  return user
}

function self(call: Call): User {
  if (call.actor.kind === 'user') return call.actor.user
  if (call.actor.kind === 'installation') throw new HttpError(403, 'Resource not accessible by integration')
  throw new HttpError(401, 'Requires authentication')
}

const EPOCH = '2020-01-01T00:00:00Z'

function fullUser(world: World, user: User) {
  return {
    ...userJson(world, user),
    ...{ name: user.login, company: null, blog: '', location: null, email: null, hireable: null, bio: null },
    ...{ public_repos: 0, public_gists: 0, followers: 0, following: 0, created_at: EPOCH, updated_at: EPOCH },
  }
}

function rateLimit() {
  const plenty = { limit: 5000, used: 0, remaining: 5000, reset: Math.ceil(Date.now() / 3_600_000) * 3600 }
  return ok({ resources: { core: plenty, search: plenty }, rate: plenty })
}
