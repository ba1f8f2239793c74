import { type AdoptionPlan, inputWith } from '../adopt/adoption.ts'
import { planAdoption } from '../adopt/plan-adoption.ts'
import { buildFleet } from '../fleet/graph/build-fleet.ts'
import { visible } from '../message/visible.ts'
import type { Command } from './command.ts'
import { parseOptions } from './parse-options.ts'
import { printLines } from './print-lines.ts'
import { FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { usageError } from './usage-error.ts'
import { writeAllInside } from './write-inside.ts'

const USAGE =
  'adopt TENANT [FLEET] [--kustomization NAMESPACE/NAME]... [--service-account NAME] [--repo URL[#REF]=DIR]... [--repos-dir DIR]'

/** `bailiwick adopt`: writes an account with the least rights for Kustomizations that run as cluster-admin, and proves them. */
export const adopt: Command = {
  name: 'adopt',
  usage: `${USAGE}

  TENANT         a tenant of the fleet, or the name of Kustomizations
  --kustomization NAMESPACE/NAME   only these (repeatable)
  --service-account NAME   name of the account (default: flux-TENANT)
${FLEET_HELP}

Writes the account, its roles and spec.serviceAccountName into FLEET, and lists each Kustomization of which every object is
proven to be allowed. Exit code 0: proven and written; 2: not proven, nothing is written.`,
  async run(args, io) {
    const options = parseOptions(args, ['kustomization', 'service-account', ...FLEET_OPTIONS], USAGE)
    const [name, folder = '.', more] = options.positionals
    if (!name) throw usage('TENANT is missing')
    if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra argument`)
    const { fleet, input, tree, dir, here } = await readFleet(options, folder, io.cwd)
    const account = options.one('service-account')
    const plan = planAdoption(
      { fleet, tree, url: here, build: changed => buildFleet(inputWith(input, changed)) },
      { name, kustomizations: options.all('kustomization'), ...(account === undefined ? {} : { account }) },
    )
    await writeAllInside(dir, plan.files)
    printLines(io, textOf(plan))
    return 0
  },
}

function textOf({ files, proven, loud, left }: AdoptionPlan): string[] {
  const objects = proven.reduce((sum, one) => sum + one.objects, 0)
  return [
    ...files.map(file => `${file.change} ${visible(file.path)}`),
    ...proven.map(one =>
      visible(`proven ${one.key}: ${one.objects} objects, ${one.requests} requests, as ${one.user}`, 500),
    ),
    ...loud.map(one => visible(`warning: ${one}`, 1000)),
    ...left.map(one => visible(`unchanged: ${one}`, 500)),
    `${proven.length} Kustomizations with ${objects} objects are proven`,
  ]
}

const usage = (message: string) => usageError(USAGE, message)
