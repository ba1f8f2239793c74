import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { covers } from '../http/permit.ts'
import type { Call, Route } from '../http/route.ts'
import { installationJson } from '../json/app.ts'
import { permissionsJson, repositoryJson } from '../json/repository.ts'
import { type App, type Installation, type Repository, roleOf, type User } from '../world.ts'

/** user/installations: where an app is installed and the person whose token it is has something to read. */
export function userInstallationRoutes(): Route[] {
  return [
    {
      scope: 'anyone',
      method: 'GET',
      path: '/user/installations',
      handle: call =>
        list(
          call,
          installationsOf(call),
          installation => installationJson(call.world, installation),
          (installations, total_count) => ({ total_count, installations }),
        ),
    },
    {
      scope: 'anyone',
      method: 'GET',
      path: '/user/installations/{installation_id}/repositories',
      handle: call => {
        const { user } = person(call)
        const found = installationsOf(call).find(each => String(each.id) === call.params.installation_id)
        if (!found) throw notFound()
        return list(
          call,
          readable(call, found, user),
          repository => ({
            ...repositoryJson(call.world, repository),
            permissions: permissionsJson(call.world, repository, user),
          }),
          (repositories, total_count) => ({ total_count, repositories }),
        )
      },
    },
  ]
}

function person(call: Call): { user: User; app: App } {
  const { actor } = call
  if (actor.kind === 'user' && actor.app) return { user: actor.user, app: actor.app }
  throw new HttpError(
    403,
    'You must authenticate with an access token authorized to a GitHub App in order to list installations',
  )
}

function installationsOf(call: Call): Installation[] {
  const { user, app } = person(call)
  return [...call.world.installations.values()].filter(
    each => each.app === app && readable(call, each, user).length > 0,
  )
}

function readable(call: Call, installation: Installation, user: User): Repository[] {
  return [...call.world.repositories.values()].filter(
    each => covers({ installation, repositories: 'all' }, each) && roleOf(call.world, each, user) !== 'none',
  )
}
