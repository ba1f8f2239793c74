import { atLeast, type Repository, type Role, type Team, type User, type World } from '../world.ts'

/** Members of a team, those of the teams below it included. */
export function membersOf(world: World, team: Team): Map<string, 'member' | 'maintainer'> {
  const members = new Map(team.members)
  for (const below of teamsOf(world, team.organization)) {
    if (below.parent !== team) continue
    for (const [login, role] of membersOf(world, below)) if (!members.has(login)) members.set(login, role)
  }
  return members
}

export function teamsOf(world: World, organization: User): Team[] {
  return [...world.teams.values()].filter(team => team.organization === organization)
}

/** What a team may do in a repository: what it was given, or a team above it. */
export function teamRole(team: Team, repository: Repository): Role {
  const own = team.repositories.get(repository.id) ?? 'none'
  const inherited = team.parent ? teamRole(team.parent, repository) : 'none'
  return atLeast(own, inherited) ? own : inherited
}
