import { randomBytes } from 'node:crypto'
import { announceInstallation } from '../actions/installation.ts'
import { object, objects, texts } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { covers } from '../http/permit.ts'
import { type Call, created, type GlobalRoute, noContent, ok, type Route } from '../http/route.ts'
import { appJson, installationJson } from '../json/app.ts'
import { repositoryJson } from '../json/repository.ts'
import type { App, Installation, InstallationActor, Permissions, Repository, World } from '../world.ts'

const HOUR = 3_600_000

/** What an app does as itself, with its JSON web token, and how it gets a token for an installation. */
export function appRoutes(): Route[] {
  return [
    asApp('GET', '/app', call => ok(appJson(call.world, caller(call)))),
    asApp('GET', '/app/installations', call =>
      list(call, ofApp(call), installation => installationJson(call.world, installation)),
    ),
    asApp('GET', '/app/installations/{installation_id}', call => ok(installationJson(call.world, named(call)))),
    asApp('DELETE', '/app/installations/{installation_id}', call => {
      const installation = named(call)
      call.world.installations.delete(installation.id)
      announceInstallation(call.world, installation, 'deleted', installation.app.owner)
      return noContent()
    }),
    asApp('POST', '/app/installations/{installation_id}/access_tokens', createToken),
    asApp('GET', '/repos/{owner}/{repo}/installation', call => {
      const key = `${call.params.owner}/${call.params.repo}`.toLowerCase()
      const repository = call.world.repositories.get(key)
      const found =
        repository && ofApp(call).find(each => covers({ installation: each, repositories: 'all' }, repository))
      if (!found) throw notFound()
      return ok(installationJson(call.world, found))
    }),
    asApp('GET', '/orgs/{org}/installation', call => ok(installationJson(call.world, ofAccount(call, 'org')))),
    asApp('GET', '/users/{username}/installation', call =>
      ok(installationJson(call.world, ofAccount(call, 'username'))),
    ),
    { scope: 'installation', method: 'DELETE', path: '/installation/token', handle: revokeToken },
    {
      scope: 'installation',
      method: 'GET',
      path: '/installation/repositories',
      handle: call => {
        const actor = call.actor as InstallationActor
        const shown = [...call.world.repositories.values()].filter(repository => covers(actor, repository))
        const selection = actor.installation.repositories === 'all' ? 'all' : 'selected'
        return list(
          call,
          shown,
          repository => repositoryJson(call.world, repository),
          (repositories, total_count) => ({
            ...{ total_count, repository_selection: selection, repositories },
          }),
        )
      },
    },
  ]
}

/** Ends the token with which it is asked. */
function revokeToken(call: Call) {
  call.world.tokens.delete(/\S+$/.exec(call.authorization ?? '')?.[0] ?? '')
  return noContent()
}

function asApp(method: string, path: string, handle: GlobalRoute['handle']): GlobalRoute {
  return { scope: 'app', method, path, handle }
}

function caller(call: Call): App {
  if (call.actor.kind !== 'app') throw new HttpError(401, 'A JSON web token could not be decoded')
  return call.actor.app
}

function ofApp(call: Call): Installation[] {
  const app = caller(call)
  return [...call.world.installations.values()].filter(installation => installation.app === app)
}

function named(call: Call): Installation {
  const found = ofApp(call).find(installation => String(installation.id) === call.params.installation_id)
  if (!found) throw notFound()
  return found
}

function ofAccount(call: Call, param: string): Installation {
  const login = call.params[param]?.toLowerCase()
  const found = ofApp(call).find(installation => installation.account.login.toLowerCase() === login)
  if (!found) throw notFound()
  return found
}

function createToken(call: Call) {
  const installation = named(call)
  if (installation.suspended) throw new HttpError(403, 'This installation has been suspended')
  const permissions = narrowed(installation, object(call.body, 'permissions') as Permissions | undefined)
  const repositories = selected(call.world, installation, call)
  const token = `ghs_${randomBytes(18).toString('hex')}`
  const expires = Date.now() + HOUR
  const ids = repositories && new Set(repositories.map(repository => repository.id))
  const actor: InstallationActor = {
    ...{ kind: 'installation', app: installation.app, installation, permissions, repositories: ids ?? 'all' },
  }
  call.world.tokens.set(token, { actor, expires })
  return created({
    token,
    expires_at: new Date(expires).toISOString().replace(/\.\d+Z$/, 'Z'),
    permissions,
    repository_selection: ids || installation.repositories !== 'all' ? 'selected' : 'all',
    ...(repositories ? { repositories: repositories.map(each => repositoryJson(call.world, each)) } : {}),
  })
}

const RANK = ['read', 'write', 'admin']

function narrowed(installation: Installation, wanted: Permissions | undefined): Permissions {
  if (!wanted) return installation.permissions
  for (const [name, level] of Object.entries(wanted)) {
    const granted = installation.permissions[name]
    if (!granted || RANK.indexOf(level) > RANK.indexOf(granted)) {
      throw new HttpError(422, 'The permissions requested are not granted to this installation.')
    }
  }
  return { metadata: 'read', ...wanted }
}

function selected(world: World, installation: Installation, call: Call): Repository[] | undefined {
  const names = texts(call.body, 'repositories')
  const ids = objects(call.body, 'repository_ids').map(Number)
  if (!names && ids.length === 0) return undefined
  const all = [...world.repositories.values()].filter(each => covers({ installation, repositories: 'all' }, each))
  const found = [...(names ?? []), ...ids].map(wanted => all.find(each => each.name === wanted || each.id === wanted))
  if (found.some(repository => repository === undefined)) {
    throw new HttpError(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    )
  }
  return found as Repository[]
}
