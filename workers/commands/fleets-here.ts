import type { FleetPlace } from '../context/readable-repository.ts'
import type { CommandContext } from './command-context.ts'

/** The fleets of the comment's repository of which its author is an admin; several if several branches are bound. */
export async function fleetsHere(command: CommandContext): Promise<FleetPlace[]> {
  return (await command.fleetsOf()).filter(({ repository }) => repository.url === command.repository.url)
}

/** Whether the author of the comment is an admin of a fleet in this repository. */
export async function decidesHere(command: CommandContext): Promise<boolean> {
  return (await fleetsHere(command)).length > 0
}
