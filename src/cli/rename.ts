import { parseRename } from '../offboard/parse-offboard.ts'
import type { Command } from './command.ts'
import { writeChange } from './offboard.ts'

const USAGE = 'rename TENANT [DIR] --to NEW'

/** `bailiwick rename`: writes the next of a rename's three pull requests to the working copy. */
export const rename: Command = {
  name: 'rename',
  usage: `${USAGE}

  TENANT            name of the tenant
  DIR               working copy of the fleet (default: .)
  --to NEW          the new name

The first change adds accounts, bindings and sources of the new name. The second changes the owner of the namespaces and what
Kustomizations act as, the third removes the old accounts, bindings and sources. Merge each, wait until every cluster has
applied it, and run the command again. Namespaces and Kustomizations keep their names.`,
  run: (args, io) => writeChange(parseRename(args, `bailiwick ${USAGE}`, 'directory'), io),
}
