import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import { answersOf } from '../evaluate/answers-of.ts'
import { subjectOf } from './present-pull.ts'
import type { Asking } from './verb.ts'

/**
 * The fleets that a pull request concerns. Where that cannot be found out, every one that it might: who lets it pass then
 * decides for all of them. An override is for the day on which judging itself fails, so whatever fails here is no answer.
 */
export async function concernedFleets(asking: Asking, pull: PullRequest): Promise<readonly FleetPlace[]> {
  const { context, installation } = asking
  try {
    return (await answersOf(context, subjectOf(asking), pull)).map(answer => answer.place)
  } catch (error) {
    context.log.warn({ err: error, pull: pull.number }, 'nobody knows which fleets a pull request concerns')
    return (await installation.designation()).fleets
  }
}
