import { workerRbac } from '../access/worker-rbac.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { visible } from '../message/visible.ts'
import type { Command } from './command.ts'
import { errorLine } from './error-line.ts'
import type { Exact } from './exact-json.ts'
import { parseOptions } from './parse-options.ts'
import { clustersOf, FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { usageError } from './usage-error.ts'
import { yamlText } from './yaml-text.ts'

const USAGE = 'worker-rbac [FLEET] --cluster NAME [--repo URL[#REF]=DIR]... [--repos-dir DIR]'

/** `bailiwick worker-rbac`: the manifests that give a worker the least rights for one cluster of a fleet. */
export const workerRbacCommand: Command = {
  name: 'worker-rbac',
  usage: `${USAGE}

  --cluster NAME the cluster that the worker applies to
${FLEET_HELP}

Prints YAML: namespace and account of the worker, and Roles that let it act only as the accounts that the Kustomizations
of the cluster name. Print it again when a tenant is added: until then the worker cannot act as its account.
Exit code 0: done; 2: a Kustomization could not be read, so that its account is not known.`,
  async run(args, io) {
    const options = parseOptions(args, ['cluster', ...FLEET_OPTIONS], USAGE)
    const [fleetDir = '.', more] = options.positionals
    if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra FLEET`)
    const name = options.one('cluster')
    if (name === undefined) throw usage('--cluster is missing')
    const { fleet } = await readFleet(options, fleetDir, io.cwd)
    const [cluster] = clustersOf(fleet, name, USAGE)
    const unread = fleet.nodes.filter(node => (node.hub ?? node.cluster) === cluster && whyIncomplete(node))
    for (const node of unread) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    const { manifests, left, asController } = workerRbac(fleet, cluster!)
    for (const one of left) io.stderr(`warning: the worker does not apply ${visible(one, 500)}\n`)
    for (const key of asController) {
      const what = 'acts as kustomize-controller, which is cluster-admin as Flux installs it'
      io.stderr(
        `warning: ${visible(key, 500)} ${what}. Set its spec.serviceAccountName to an account with less rights.\n`,
      )
    }
    io.stdout(yamlText(manifests as readonly Exact[]))
    return unread.length > 0 ? 2 : 0
  },
}

const usage = (message: string) => usageError(USAGE, message)
