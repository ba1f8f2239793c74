import { membersOf, teamRole, teamsOf } from '../actions/team.ts'
import { notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { noContent, type OrganizationCall, ok, onOrganization, onRepository, type Route } from '../http/route.ts'
import { organizationJson } from '../json/organization.ts'
import { teamFullJson, teamJson } from '../json/team.ts'
import { userJson } from '../json/user.ts'
import type { Team, User } from '../world.ts'

/** Teams and members of organisations, and the teams of a repository. */
export function teamRoutes(): Route[] {
  return [
    onOrganization('GET', '/teams', 'members:read', call =>
      list(call, teamsOf(call.world, call.organization), team => teamJson(call.world, team)),
    ),
    onOrganization('GET', '/teams/{team_slug}', 'members:read', call => ok(teamFullJson(call.world, teamNamed(call)))),
    onOrganization('GET', '/teams/{team_slug}/members', 'members:read', call => {
      const logins = [...membersOf(call.world, teamNamed(call)).keys()]
      return list(call, logins, login => userJson(call.world, userNamed(call, login)))
    }),
    onOrganization('GET', '/teams/{team_slug}/memberships/{username}', 'members:read', membership),
    onOrganization('GET', '/members', 'members:read', call => {
      const logins = [...(call.world.members.get(call.organization.login)?.keys() ?? [])]
      return list(call, logins, login => userJson(call.world, userNamed(call, login)))
    }),
    onOrganization('GET', '/members/{username}', 'members:read', call => {
      const { login } = userNamed(call, call.params.username ?? '')
      if (!call.world.members.get(call.organization.login)?.has(login)) throw notFound()
      return noContent()
    }),
    onOrganization('GET', '/memberships/{username}', 'members:read', organizationMembership),
    onRepository('GET', '/teams', 'administration:read', 'write', call => {
      const teams = teamsOf(call.world, call.repo.owner).filter(team => teamRole(team, call.repo) !== 'none')
      return list(call, teams, team =>
        teamJson(call.world, team, { repository: call.repo, role: teamRole(team, call.repo) }),
      )
    }),
  ]
}

/** Owners of the organisation count as maintainers of the teams that they are in (docs). */
function membership(call: OrganizationCall) {
  const team = teamNamed(call)
  const { login } = userNamed(call, call.params.username ?? '')
  const role = membersOf(call.world, team).get(login)
  const isPending = role === undefined && team.pending.has(login)
  if (role === undefined && !isPending) throw notFound()
  const owns = call.world.members.get(call.organization.login)?.get(login) === 'admin'
  const url = `${call.world.url}/organizations/${call.organization.id}/team/${team.id}/memberships/${login}`
  return ok({ url, role: owns ? 'maintainer' : (role ?? 'member'), state: isPending ? 'pending' : 'active' })
}

function organizationMembership(call: OrganizationCall) {
  const { world, organization } = call
  const user = userNamed(call, call.params.username ?? '')
  const role = world.members.get(organization.login)?.get(user.login)
  if (!role) throw notFound()
  const organization_url = `${world.url}/orgs/${organization.login}`
  return ok({
    ...{ url: `${organization_url}/memberships/${user.login}`, state: 'active', role, organization_url },
    ...{ organization: organizationJson(world, organization), user: userJson(world, user) },
  })
}

function teamNamed(call: OrganizationCall): Team {
  const team = call.world.teams.get(`${call.organization.login}/${call.params.team_slug}`.toLowerCase())
  if (!team) throw notFound()
  return team
}

function userNamed(call: OrganizationCall, login: string): User {
  const user = call.world.users.get(login.toLowerCase())
  if (!user) throw notFound()
  return user
}
