import { issueJson } from '../json/issue.ts'
import type { Issue, Repository, User, World } from '../world.ts'
import { pullPayload } from './payloads.ts'

/** Says that an issue changed: `pull_request` when it is one, `issues` otherwise, never both. */
export function issueChanged(
  world: World,
  repository: Repository,
  issue: Issue,
  action: string,
  by: User,
  more: Readonly<Record<string, unknown>> = {},
): void {
  const pull = repository.pulls.get(issue.number)
  if (pull) world.emit(repository, by, 'pull_request', pullPayload(world, repository, action, pull, more))
  else world.emit(repository, by, 'issues', { action, issue: issueJson(world, repository, issue), ...more })
}
