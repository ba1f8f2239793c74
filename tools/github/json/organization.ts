import type { User, World } from '../world.ts'
import { nodeId } from './node-id.ts'
import { userJson } from './user.ts'

const EPOCH = '2020-01-01T00:00:00Z'

/** OpenAPI `organization-full`. */
export function organizationJson(world: World, account: User) {
  const url = `${world.url}/orgs/${account.login}`
  return {
    ...{ login: account.login, id: account.id, node_id: nodeId('O', account.id), url, description: null },
    ...{
      repos_url: `${url}/repos`,
      events_url: `${url}/events`,
      hooks_url: `${url}/hooks`,
      issues_url: `${url}/issues`,
    },
    ...{ members_url: `${url}/members{/member}`, public_members_url: `${url}/public_members{/member}` },
    ...{ avatar_url: userJson(world, account).avatar_url, html_url: `https://github.com/${account.login}` },
    ...{ has_organization_projects: true, has_repository_projects: true, public_repos: 0, public_gists: 0 },
    ...{ followers: 0, following: 0, type: 'Organization', created_at: EPOCH, updated_at: EPOCH, archived_at: null },
  }
}

/** OpenAPI `organization-simple`: what webhooks hold. */
export function organizationSimpleJson(world: World, account: User) {
  const { login, id, node_id, avatar_url } = userJson(world, account)
  const url = `${world.url}/orgs/${login}`
  const urls = { repos_url: `${url}/repos`, events_url: `${url}/events`, hooks_url: `${url}/hooks` }
  const more = { issues_url: `${url}/issues`, members_url: `${url}/members{/member}` }
  return {
    login,
    id,
    node_id,
    avatar_url,
    url,
    ...urls,
    ...more,
    public_members_url: `${url}/public_members{/member}`,
    description: null,
  }
}
