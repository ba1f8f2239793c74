import { cursorPage } from '../http/cursor-page.ts'
import { onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { nodeId } from '../json/node-id.ts'
import { userJson } from '../json/user.ts'
import type { Activity } from '../world.ts'

/** activity: how the branches moved, and by whom. */
export function activityRoutes(): Route[] {
  return [onRepository('GET', '/activity', 'contents:read', 'read', listActivities)]
}

function listActivities(call: RepositoryCall) {
  const { query, repo, world } = call
  const [ref, actor, type] = [query.get('ref'), query.get('actor'), query.get('activity_type')]
  const found = repo.activities.filter(each => {
    const fits = !ref || each.ref === ref || each.ref === `refs/heads/${ref}`
    return fits && (!actor || each.actor.login === actor) && (!type || each.type === type)
  })
  const shown = query.get('direction') === 'asc' ? found : found.reverse()
  const present = ({ id, before, after, ref, at, type, actor }: Activity) => ({
    ...{ id, node_id: nodeId('PSH', id), before, after, ref, timestamp: at, activity_type: type },
    actor: userJson(world, actor),
  })
  return cursorPage(call, shown, present)
}
