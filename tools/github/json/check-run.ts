import { type Annotation, type CheckRun, fullName, type Repository, type World } from '../world.ts'
import { appJson } from './app.ts'
import { nodeId } from './node-id.ts'

/** OpenAPI `check-run`. `pull_requests` are those of this repository only: a fork's are not told (docs, Checks API). */
export function checkRunJson(world: World, repository: Repository, run: CheckRun) {
  const url = `${world.url}/repos/${fullName(repository)}/check-runs/${run.id}`
  const html = `https://github.com/${fullName(repository)}/runs/${run.id}`
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId('CR', run.id),
    head_sha: run.headSha,
    external_id: run.externalId,
    url,
    html_url: html,
    details_url: run.detailsUrl ?? `https://${run.app.slug}.example`,
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    output: { ...run.output, annotations_count: run.annotations.length, annotations_url: `${url}/annotations` },
    check_suite: { id: run.suite },
    app: appJson(world, run.app),
    pull_requests: pullsAt(world, repository, run.headSha),
  }
}

/** OpenAPI `check-annotation`. */
export function annotationJson(repository: Repository, run: CheckRun, annotation: Annotation) {
  const path = encodeURI(annotation.path)
  return { ...annotation, blob_href: `https://github.com/${fullName(repository)}/blob/${run.headSha}/${path}` }
}

/** OpenAPI `pull-request-minimal`: the open pull requests whose head is a commit of this repository. */
export function pullsAt(world: World, repository: Repository, sha: string) {
  const api = `${world.url}/repos/${fullName(repository)}`
  const repo = { id: repository.id, url: api, name: repository.name }
  return [...repository.pulls.values()]
    .filter(pull => pull.head.repository === repository && pull.head.sha === sha && pull.issue.state === 'open')
    .map(pull => ({
      url: `${api}/pulls/${pull.issue.number}`,
      id: pull.id,
      number: pull.issue.number,
      head: { ref: pull.head.ref, sha: pull.head.sha, repo },
      base: { ref: pull.base.ref, sha: pull.base.sha, repo },
    }))
}
