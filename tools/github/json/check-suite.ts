import { type CheckSuite, fullName, type Repository, type World } from '../world.ts'
import { appJson } from './app.ts'
import { pullsAt } from './check-run.ts'
import { simpleCommitJson } from './commit.ts'
import { nodeId } from './node-id.ts'
import { repositoryJson } from './repository.ts'

/** OpenAPI `check-suite`, without its repository: so it stands in webhooks. */
export function checkSuiteJson(world: World, repository: Repository, suite: CheckSuite) {
  const url = `${world.url}/repos/${fullName(repository)}/check-suites/${suite.id}`
  const commit = repository.store.commit(suite.headSha)!
  const names = new Set(repository.checkRuns.filter(run => run.suite === suite.id).map(run => run.name))
  return {
    id: suite.id,
    node_id: nodeId('CS', suite.id),
    head_branch: suite.headBranch,
    head_sha: suite.headSha,
    status: suite.status,
    conclusion: suite.conclusion,
    url,
    before: suite.before ?? '0'.repeat(40),
    after: suite.headSha,
    pull_requests: pullsAt(world, repository, suite.headSha),
    app: appJson(world, suite.app),
    created_at: suite.createdAt,
    updated_at: suite.updatedAt,
    rerequestable: true,
    runs_rerequestable: true,
    latest_check_runs_count: names.size,
    check_runs_url: `${url}/check-runs`,
    head_commit: simpleCommitJson(commit),
  }
}

/** OpenAPI `check-suite`. */
export function checkSuiteWithRepositoryJson(world: World, repository: Repository, suite: CheckSuite) {
  return { ...checkSuiteJson(world, repository, suite), repository: repositoryJson(world, repository) }
}

/** OpenAPI `simple-check-suite`: what the payload of a check run holds of it. */
export function simpleSuiteJson(world: World, repository: Repository, suite: CheckSuite) {
  const full = checkSuiteJson(world, repository, suite)
  const { id, node_id, head_branch, head_sha, status, conclusion, url, before, after } = full
  const { pull_requests, app, created_at, updated_at } = full
  return {
    ...{ id, node_id, head_branch, head_sha, status, conclusion, url, before, after },
    ...{ pull_requests, app, created_at, updated_at },
  }
}
