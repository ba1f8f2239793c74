import type { FleetPlace } from '../context/readable-repository.ts'
import type { Asking } from './verb.ts'

/** The fleets of the comment's repository of which its author is an admin; several if several branches are bound. */
export async function fleetsHere(asking: Asking): Promise<FleetPlace[]> {
  return (await asking.fleetsOf()).filter(({ repository }) => repository.url === asking.repository.url)
}

/** Whether the author of the comment is an admin of a fleet in this repository. */
export async function decidesHere(asking: Asking): Promise<boolean> {
  return (await fleetsHere(asking)).length > 0
}
