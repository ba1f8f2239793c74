import type { RepositoryRole } from '../../src/github/people/permission.ts'
import type { Asking } from './verb.ts'

const ORDER: readonly RepositoryRole[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin']

/** Whether a role has at least the rights of another one. */
export function isAtLeast(role: RepositoryRole, wanted: RepositoryRole): boolean {
  return ORDER.indexOf(role) >= ORDER.indexOf(wanted)
}

/** Who may change the repository. */
export async function mayWrite({ role }: Asking): Promise<boolean> {
  return isAtLeast(role, 'write')
}

/** Who decides about the repository. */
export async function mayMaintain({ role }: Asking): Promise<boolean> {
  return isAtLeast(role, 'maintain')
}

/**
 * Who may have the App write a reply: whoever takes part. Not everybody who can read, which on a public repository is
 * everybody: an App that answers strangers writes whatever they want as often as they want.
 */
export async function mayAsk({ role, comment }: Asking): Promise<boolean> {
  return isAtLeast(role, 'triage') || (role !== 'none' && comment.issue.author === comment.author.login)
}

/** Who decides for some fleet of the installation. */
export async function mayDecideForFleet(asking: Asking): Promise<boolean> {
  return (await asking.fleetsOf()).length > 0
}
