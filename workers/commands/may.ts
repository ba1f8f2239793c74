import type { RepositoryRole } from '../../src/github/people/permission.ts'
import type { CommandContext } from './command-context.ts'

const ORDER: readonly RepositoryRole[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin']

/** Whether a role has at least the rights of another one. */
export function isAtLeast(role: RepositoryRole, wanted: RepositoryRole): boolean {
  return ORDER.indexOf(role) >= ORDER.indexOf(wanted)
}

/** Whether the person has write access to the repository. */
export async function mayWrite({ role }: CommandContext): Promise<boolean> {
  return isAtLeast(role, 'write')
}

/** Whether the person maintains or administers the repository. */
export async function mayMaintain({ role }: CommandContext): Promise<boolean> {
  return isAtLeast(role, 'maintain')
}

/**
 * Whether the person may get a reply: only people who take part in the repository. On a public repository everyone can
 * read, and an App that replies to strangers could be made to flood it.
 */
export async function mayAsk({ role, comment }: CommandContext): Promise<boolean> {
  return isAtLeast(role, 'triage') || (role !== 'none' && comment.issue.author === comment.author.login)
}

/** Whether the person is an admin of any fleet of the installation. */
export async function mayDecideForFleet(command: CommandContext): Promise<boolean> {
  return (await command.fleetsOf()).length > 0
}
