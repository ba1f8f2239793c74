import { type CommitStatus, fullName, type Repository, type World } from '../world.ts'
import { nodeId } from './node-id.ts'
import { userJson } from './user.ts'

/** OpenAPI `status`. */
export function statusJson(world: World, repository: Repository, status: CommitStatus) {
  const creator = userJson(world, status.creator)
  return {
    url: `${world.url}/repos/${fullName(repository)}/statuses/${status.sha}`,
    avatar_url: creator.avatar_url,
    id: status.id,
    node_id: nodeId('SC', status.id),
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: status.at,
    updated_at: status.at,
    creator,
  }
}
