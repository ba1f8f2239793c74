import { parseHandOver } from '../offboard/parse-offboard.ts'
import type { Command } from './command.ts'
import { writeChange } from './offboard.ts'

const USAGE = 'hand-over NAMESPACE [DIR] --to TENANT'

/** `bailiwick hand-over`: writes the next of a hand-over's two pull requests to the working copy. */
export const handOver: Command = {
  name: 'hand-over',
  usage: `${USAGE}

  NAMESPACE         namespace of a tenant
  DIR               working copy of the fleet (default: .)
  --to TENANT       the tenant that gets it

The first change gives the namespace to the other tenant, with rights for its accounts. Merge it, remove from the former tenant's
repository what it applies there, and run the command again: the second change removes the former tenant's rights.`,
  run: (args, io) => writeChange(parseHandOver(args, `bailiwick ${USAGE}`, 'directory'), io),
}
