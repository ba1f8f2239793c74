import { membersOf } from '../actions/team.ts'
import { atLeast, type Repository, type Role, type Team, type World } from '../world.ts'
import { nodeId } from './node-id.ts'
import { organizationJson } from './organization.ts'

/** OpenAPI `team-simple`. */
function simpleTeamJson(world: World, team: Team) {
  const url = `${world.url}/organizations/${team.organization.id}/team/${team.id}`
  return {
    ...{ id: team.id, node_id: nodeId('T', team.id), name: team.name, slug: team.slug, description: null },
    ...{ privacy: 'closed', notification_setting: 'notifications_enabled', permission: 'pull', type: 'organization' },
    ...{ url, members_url: `${url}/members{/member}`, repositories_url: `${url}/repos` },
    html_url: `https://github.com/orgs/${team.organization.login}/teams/${team.slug}`,
    organization_id: team.organization.id,
  }
}

/** OpenAPI `team`; with a repository it says what the team may do there. */
export function teamJson(world: World, team: Team, at?: { readonly repository: Repository; readonly role: Role }) {
  const allows = (wanted: Role) => at !== undefined && atLeast(at.role, wanted)
  const permissions = {
    ...{ pull: allows('read'), triage: allows('triage'), push: allows('write') },
    ...{ maintain: allows('maintain'), admin: allows('admin') },
  }
  const names: Partial<Record<Role, string>> = { read: 'pull', write: 'push' }
  return {
    ...simpleTeamJson(world, team),
    ...(at ? { permission: names[at.role] ?? at.role, permissions } : {}),
    parent: team.parent ? simpleTeamJson(world, team.parent) : null,
  }
}

/** OpenAPI `team-full`. */
export function teamFullJson(world: World, team: Team) {
  return {
    ...teamJson(world, team),
    ...{ members_count: membersOf(world, team).size, repos_count: team.repositories.size },
    ...{ created_at: team.createdAt, updated_at: team.createdAt },
    organization: organizationJson(world, team.organization),
  }
}
