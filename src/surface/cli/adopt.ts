import { visible } from '../../base/visible.ts'
import { buildFleet } from '../../fleet/graph/build-fleet.ts'
import { type AdoptionPlan, inputWith } from '../../tenants/adopt/adoption.ts'
import { planAdoption } from '../../tenants/adopt/plan-adoption.ts'
import { planLockdown } from '../../tenants/adopt/plan-lockdown.ts'
import type { Command } from './command.ts'
import { clustersOf, FLEET, readFleet } from './read-fleet.ts'
import { printLines } from './terminal.ts'
import { writeAllInside } from './write-inside.ts'

/** `bailiwick adopt`: writes and proves least-rights accounts for Kustomizations that run as cluster-admin. */
export const adopt: Command = {
  name: 'adopt',
  usage: [
    ['TENANT', 'a tenant of the fleet, or the name of Kustomizations'],
    ['[--kustomization NAMESPACE/NAME]...', 'only these (repeatable)'],
    ['[--service-account NAME]', 'name of the account (default: flux-TENANT)'],
    ...FLEET,
  ],
  notes: `Writes the account, its roles and spec.serviceAccountName into FLEET, and lists each Kustomization of which every object is
proven to be allowed. Exit code 0: proven and written; 2: not proven, nothing is written.`,
  async run(given, io) {
    const { fleet, input, tree, dir, here } = await readFleet(given, io.cwd)
    const [name, account] = [given.one('TENANT')!, given.one('service-account')]
    const plan = planAdoption(
      { fleet, tree, url: here, build: changed => buildFleet(inputWith(input, changed)) },
      { name, kustomizations: given.all('kustomization'), ...(account === undefined ? {} : { account }) },
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

/** `bailiwick lockdown`: sets the next flag of Flux's multi-tenancy lockdown, after proving that nothing breaks. */
export const lockdown: Command = {
  name: 'lockdown',
  usage: [['--cluster NAME', 'the cluster'], ...FLEET],
  notes: `Writes the next of --no-remote-bases, --no-cross-namespace-refs and --default-service-account into FLEET. Run it again after
the flag is merged. Exit code 0: written, or all are set; 2: it would break something, nothing is written.`,
  async run(given, io) {
    const name = given.one('cluster')!
    const { fleet, input, tree, dir, here } = await readFleet(given, io.cwd)
    clustersOf(fleet, name, given)
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
