import { list } from '../http/list.ts'
import { onRepository, type Route } from '../http/route.ts'
import { nodeId } from '../json/node-id.ts'
import { userJson } from '../json/user.ts'
import { fullName } from '../world.ts'
import { issueOf } from './issues.ts'

/** The events of an issue or pull request: who labeled it, closed it, merged it, and when. */
export function issueEventRoutes(): Route[] {
  return [
    onRepository('GET', '/issues/{issue_number}/events', 'issues:read|pull_requests:read', 'read', call => {
      const api = `${call.world.url}/repos/${fullName(call.repo)}/issues/events`
      return list(call, issueOf(call).events, ({ id, event, actor, label, at }) => ({
        ...{ id, node_id: nodeId('EV', id), url: `${api}/${id}`, actor: userJson(call.world, actor), event },
        ...{ commit_id: null, commit_url: null, created_at: at, performed_via_github_app: null },
        ...(label ? { label: { name: label.name, color: label.color } } : {}),
      }))
    }),
  ]
}
