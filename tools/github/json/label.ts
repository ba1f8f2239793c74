import { fullName, type Issue, type Label, type Repository, type World } from '../world.ts'
import { nodeId } from './node-id.ts'

/** OpenAPI `label`. */
export function labelJson(world: World, repository: Repository, label: Label) {
  const { id, name, color, description } = label
  const url = `${world.url}/repos/${fullName(repository)}/labels/${encodeURIComponent(name)}`
  return { id, node_id: nodeId('LA', id), url, name, color, default: label.isDefault, description }
}

/** The labels of an issue, in the order of their names as everywhere on GitHub. */
export function labelsJson(world: World, repository: Repository, issue: Issue) {
  return [...issue.labels]
    .sort((a, b) => a.localeCompare(b))
    .flatMap(name => {
      const label = repository.labels.get(name.toLowerCase())
      return label ? [labelJson(world, repository, label)] : []
    })
}
