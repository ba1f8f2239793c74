import { readFleetFile } from '../../src/fleet/config/read-fleet-file.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { listMaintainers } from '../../src/github/people/maintainers.ts'
import { readRole } from '../../src/github/people/permission.ts'
import { isInTeams, type Team } from '../../src/github/people/teams.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace } from '../context/readable-repository.ts'

/** An installation, and the client with its token. */
export interface FleetAccess {
  readonly installation: Installation
  readonly octokit: Octokit
}

/**
 * Whether a person is a fleet admin now: role `maintain` or `admin` on the fleet repository, or listed in `approvers`
 * of its file on the branch that clusters follow. Claims of events and commits never count.
 */
export async function isFleetAdmin(access: FleetAccess, fleet: FleetPlace, login: string): Promise<boolean> {
  const { repository } = fleet
  const role = await readRole(access.octokit, { owner: repository.owner, repo: repository.name }, login)
  if (role === 'admin' || role === 'maintain') return true
  const approvers = await approversOf(access.installation, fleet)
  if (approvers.includes(login.toLowerCase())) return true
  return isInTeams(access.octokit, teamsAmong(approvers, repository.owner), login)
}

/** Whether anyone else is a fleet admin; who is in a listed team is not asked, so a team counts as others. */
export async function hasOtherAdmins(access: FleetAccess, fleet: FleetPlace, login: string): Promise<boolean> {
  const { owner, name } = fleet.repository
  const all = [
    ...(await approversOf(access.installation, fleet)),
    ...(await listMaintainers(access.octokit, { owner, repo: name })),
  ]
  return all.some(one => one.toLowerCase() !== login.toLowerCase())
}

/** Teams of the fleet's own organisation only: what another one calls a team is its own matter. */
function teamsAmong(approvers: readonly string[], owner: string): Team[] {
  return approvers.flatMap(approver => {
    const [org = '', slug] = approver.split('/')
    return slug !== undefined && org === owner.toLowerCase() ? [{ org, slug }] : []
  })
}

/** A file that cannot be read lists nobody. */
async function approversOf(installation: Installation, fleet: FleetPlace): Promise<readonly string[]> {
  const commit = await installation.head(fleet.repository, { branch: fleet.branch })
  if (commit === undefined) return []
  const tree = openSnapshot(await installation.content(fleet.repository, commit))
  return readFleetFile(tree, fleet.repository.url).approvers
}
