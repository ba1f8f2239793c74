import {
  archiveRepository,
  deleteRepository,
  mustBeWritable,
  publishRepository,
  renameRepository,
  switchDefaultBranch,
} from '../actions/repository.ts'
import { flag, text } from '../http/body.ts'
import { noContent, ok, onRepository, type RepositoryCall, type RepositoryRoute, type Route } from '../http/route.ts'
import { permissionsJson, repositoryJson } from '../json/repository.ts'
import { senderOf } from '../world.ts'

/** The repository itself: read, changed, deleted. */
export function repositoryRoutes(): Route[] {
  return [
    onRepository('GET', '', 'metadata:read', 'read', shown),
    alsoArchived(onRepository('PATCH', '', 'administration:write', 'admin', update)),
    alsoArchived(
      onRepository('DELETE', '', 'administration:write', 'admin', call => {
        deleteRepository(call.world, call.repo, senderOf(call.actor))
        return noContent()
      }),
    ),
  ]
}

/** A person is told what they may do there. */
function shown({ world, repo, actor }: RepositoryCall) {
  const permissions = actor.kind === 'user' ? { permissions: permissionsJson(world, repo, actor.user) } : {}
  return ok({ ...repositoryJson(world, repo), ...permissions })
}

function alsoArchived(route: RepositoryRoute): RepositoryRoute {
  return { ...route, access: { ...route.access, whileArchived: true } }
}

/** An archived repository takes nothing but the end of that. */
function update(call: RepositoryCall) {
  const { body, repo, world } = call
  const by = senderOf(call.actor)
  const archived = flag(body, 'archived')
  if (archived === false) archiveRepository(world, repo, false, by)
  mustBeWritable(repo)
  const [name, branch] = [text(body, 'name'), text(body, 'default_branch')]
  const isPrivate = flag(body, 'private') ?? (body.visibility === undefined ? undefined : body.visibility !== 'public')
  if (name !== undefined) renameRepository(world, repo, name, by)
  if (branch !== undefined) switchDefaultBranch(world, repo, branch, by)
  if (isPrivate !== undefined) publishRepository(world, repo, isPrivate, by)
  if (archived === true) archiveRepository(world, repo, true, by)
  return ok(repositoryJson(world, repo))
}
