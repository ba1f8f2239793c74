import { commandError } from '../../src/command/command-error.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import { answersOf } from '../evaluate/answers-of.ts'
import type { CommandContext } from './command-context.ts'
import { subjectOf } from './present-pull.ts'

/** What several fleets evaluated is decided only by who decides for all of them. Throws `command-input`. */
export async function refuseForeignFleets(command: CommandContext, pull: PullRequest): Promise<void> {
  const concerned = await concernedFleets(command, pull)
  if (concerned.length === 0) {
    throw commandError('no fleet reads this change, so there is nothing to decide', 'Merge it without the command.')
  }
  const mine = await command.fleetsOf()
  const isMine = (url: string, branch: string) =>
    mine.some(fleet => fleet.repository.url === url && fleet.branch === branch)
  if (concerned.every(({ repository, branch }) => isMine(repository.url, branch))) return
  throw commandError('you are not an admin of a fleet that this change affects', 'Ask one of its admins.')
}

/**
 * The fleets that a pull request concerns. Where that cannot be found out, every one that it might: who lets it pass then
 * decides for all of them. An override is for the day on which evaluating itself fails, so whatever fails here is no answer.
 */
async function concernedFleets(command: CommandContext, pull: PullRequest): Promise<readonly FleetPlace[]> {
  const { context, installation } = command
  try {
    return (await answersOf(context, subjectOf(command), pull)).map(answer => answer.place)
  } catch (error) {
    context.log.warn({ err: error, pull: pull.number }, 'could not determine which fleets a pull request affects')
    return (await installation.designation()).fleets
  }
}
