import { inputWith } from '../adopt/adoption.ts'
import { planLockdown } from '../adopt/plan-lockdown.ts'
import { buildFleet } from '../fleet/graph/build-fleet.ts'
import { visible } from '../message/visible.ts'
import type { Command } from './command.ts'
import { parseOptions } from './parse-options.ts'
import { printLines } from './print-lines.ts'
import { clustersOf, FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { usageError } from './usage-error.ts'
import { writeAllInside } from './write-inside.ts'

const USAGE = 'lockdown [FLEET] --cluster NAME [--repo URL[#REF]=DIR]... [--repos-dir DIR]'

/** `bailiwick lockdown`: sets the next flag of Flux's multi-tenancy lockdown on a cluster, after proving that nothing breaks. */
export const lockdown: Command = {
  name: 'lockdown',
  usage: `${USAGE}

  --cluster NAME the cluster
${FLEET_HELP}

Writes the next of --no-remote-bases, --no-cross-namespace-refs and --default-service-account into FLEET. Run it again after
the flag is merged. Exit code 0: written, or all are set; 2: it would break something, nothing is written.`,
  async run(args, io) {
    const options = parseOptions(args, ['cluster', ...FLEET_OPTIONS], USAGE)
    const [folder = '.', more] = options.positionals
    if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra argument`)
    const name = options.one('cluster')
    if (name === undefined) throw usage('--cluster is missing')
    const { fleet, input, tree, dir, here } = await readFleet(options, folder, io.cwd)
    clustersOf(fleet, name, USAGE)
    const build = (changed: typeof tree) => buildFleet(inputWith(input, changed))
    const change = planLockdown({ fleet, tree, url: here, build }, name)
    await writeAllInside(dir, change?.files ?? [])
    const lines = change
      ? [...change.files.map(file => `${file.change} ${visible(file.path)}`), change.title]
      : [`all flags are set on ${name}`]
    printLines(io, lines)
    return 0
  },
}

const usage = (message: string) => usageError(USAGE, message)
