import { parseMove } from '../offboard/parse-offboard.ts'
import type { Command } from './command.ts'
import { writeChange } from './offboard.ts'

const USAGE = 'move TENANT [DIR] --to C [--from C2]'

/** `bailiwick move`: makes the next of the three changes in the working copy that the pull requests of a move would contain. */
export const move: Command = {
  name: 'move',
  usage: `${USAGE}

  TENANT            name of the tenant
  DIR               working copy of the fleet (default: .)
  --to C            the new cluster
  --from C2         the cluster that it leaves (default: the only one that it is on)

The first change adds the tenant to the new cluster. When it runs there, run the command again: the second change removes its
workloads from the old cluster, the third one the rest. PersistentVolumes are not copied.`,
  run: (args, io) => writeChange(parseMove(args, `bailiwick ${USAGE}`, 'directory'), io),
}
