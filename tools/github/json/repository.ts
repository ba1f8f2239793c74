import { atLeast, fullName, type Repository, type Role, roleOf, type User, type World } from '../world.ts'
import { nodeId } from './node-id.ts'
import { userJson } from './user.ts'

const API_URLS = {
  archive: '/{archive_format}{/ref}',
  assignees: '/assignees{/user}',
  blobs: '/git/blobs{/sha}',
  branches: '/branches{/branch}',
  collaborators: '/collaborators{/collaborator}',
  comments: '/comments{/number}',
  commits: '/commits{/sha}',
  compare: '/compare/{base}...{head}',
  contents: '/contents/{+path}',
  contributors: '/contributors',
  deployments: '/deployments',
  downloads: '/downloads',
  events: '/events',
  forks: '/forks',
  git_commits: '/git/commits{/sha}',
  git_refs: '/git/refs{/sha}',
  git_tags: '/git/tags{/sha}',
  hooks: '/hooks',
  issue_comment: '/issues/comments{/number}',
  issue_events: '/issues/events{/number}',
  issues: '/issues{/number}',
  keys: '/keys{/key_id}',
  labels: '/labels{/name}',
  languages: '/languages',
  merges: '/merges',
  milestones: '/milestones{/number}',
  notifications: '/notifications{?since,all,participating}',
  pulls: '/pulls{/number}',
  releases: '/releases{/id}',
  stargazers: '/stargazers',
  statuses: '/statuses/{sha}',
  subscribers: '/subscribers',
  subscription: '/subscription',
  tags: '/tags',
  teams: '/teams',
  trees: '/git/trees{/sha}',
}

/** OpenAPI `full-repository` (a superset of `repository` and `minimal-repository`), without the reader's permissions. */
export function repositoryJson(world: World, repository: Repository) {
  const name = fullName(repository)
  const url = `${world.url}/repos/${name}`
  let openIssues = 0
  for (const issue of repository.issues.values()) if (issue.state === 'open') openIssues++
  return {
    id: repository.id,
    node_id: nodeId('R', repository.id),
    name: repository.name,
    full_name: name,
    private: repository.private,
    visibility: repository.private ? (repository.internal ? 'internal' : 'private') : 'public',
    owner: userJson(world, repository.owner),
    html_url: `https://github.com/${name}`,
    description: null,
    fork: repository.parent !== undefined,
    url,
    ...urlsAt(url),
    clone_url: `https://github.com/${name}.git`,
    git_url: `git://github.com/${name}.git`,
    ssh_url: `git@github.com:${name}.git`,
    svn_url: `https://github.com/${name}`,
    homepage: null,
    mirror_url: null,
    language: null,
    license: null,
    default_branch: repository.defaultBranch,
    ...{ archived: repository.archived, disabled: false, is_template: false, web_commit_signoff_required: false },
    ...{ has_issues: true, has_projects: false, has_wiki: false, has_pages: false, has_downloads: true },
    ...{ has_discussions: false, allow_forking: true, topics: [] },
    ...{ forks: 0, forks_count: 0, network_count: 0, stargazers_count: 0, subscribers_count: 0, size: 1 },
    ...{ watchers: 0, watchers_count: 0, open_issues: openIssues, open_issues_count: openIssues },
    created_at: repository.createdAt,
    updated_at: repository.pushedAt,
    pushed_at: repository.pushedAt,
  }
}

const known = new Map<string, Readonly<Record<string, string>>>()

/** Every payload has them several times: made once for each address. */
function urlsAt(url: string): Readonly<Record<string, string>> {
  let urls = known.get(url)
  if (!urls) {
    urls = Object.fromEntries(Object.entries(API_URLS).map(([key, path]) => [`${key}_url`, url + path]))
    known.set(url, urls)
  }
  return urls
}

/** What a person may do there. */
export function permissionsJson(world: World, repository: Repository, user: User) {
  const role = roleOf(world, repository, user)
  const allows = (wanted: Role) => atLeast(role, wanted)
  return {
    ...{ admin: allows('admin'), maintain: allows('maintain'), push: allows('write') },
    ...{ triage: allows('triage'), pull: allows('read') },
  }
}
