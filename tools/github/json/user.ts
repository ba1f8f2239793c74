import type { User, World } from '../world.ts'
import { nodeId } from './node-id.ts'

/** OpenAPI `simple-user`. */
export function userJson(world: World, user: User) {
  const url = `${world.url}/users/${encodeURIComponent(user.login)}`
  const page = user.type === 'Bot' ? `apps/${user.login.replace('[bot]', '')}` : user.login
  return {
    login: user.login,
    id: user.id,
    node_id: nodeId('U', user.id),
    avatar_url: `https://avatars.githubusercontent.com/u/${user.id}?v=4`,
    gravatar_id: '',
    url,
    html_url: `https://github.com/${page}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: user.type,
    site_admin: false,
  }
}
