import { openWorkingCopy } from '../git/working-copy.ts'
import { visible } from '../message/visible.ts'
import { fleetAt } from '../onboard/fleet-at.ts'
import { ONBOARD_USAGE, parseOnboardArguments } from '../onboard/parse-command.ts'
import { planOnboarding } from '../onboard/plan.ts'
import type { Command } from './command.ts'
import { notFollowed } from './not-followed.ts'
import { repositoryAddress } from './repository-address.ts'
import { rootFolder } from './root-folder.ts'
import { writeInside } from './write-inside.ts'

/** `bailiwick onboard`: writes into the working copy what the onboarding pull request would contain. */
export const onboard: Command = {
  name: 'onboard',
  usage: `${ONBOARD_USAGE}

  TENANT            name of the tenant
  --repo URL        https or ssh address of the tenant's repository
  --namespace NS    namespace of the tenant (repeatable)
  --cluster C       cluster of this fleet, by its name in the result of check (repeatable)
  --branch NAME     branch that the fleet follows (default: main)
  --path ./DIR      directory of the tenant's repository (default: its root)
  --tag, --semver, --commit, --digest VALUE
                    what to apply instead of a branch; an oci:// address needs one
  --role ROLE       cluster-admin (default), admin or edit, inside the namespaces
  --interval, --timeout DURATION, --prune, --wait BOOLEAN, --service-account NAME
                    as in the commands of the flux CLI
  --access HOW      credentials: deploy-key, token or github-app (default: none)`,
  async run(args, io) {
    const request = parseOnboardArguments(args)
    const dir = await rootFolder(io.cwd)
    const tree = await openWorkingCopy(dir)
    const here = await repositoryAddress(dir, {})
    const { url, usual = here.branch } = here
    // the files are written on a branch of their own, as often as not, and merged into the one that clusters follow
    const branch = notFollowed([fleetAt(tree, url, here.branch)], here) ? usual : here.branch
    const { files, summary } = planOnboarding(request, tree, url, branch)
    for (const file of files) await writeInside(dir, file.path, file.content)
    const lines = [
      ...files.map(file => `${file.change} ${visible(file.path)}`),
      ...summary.map(note => visible(note)),
      files.length === 0
        ? `nothing to do: tenant ${request.tenant} is onboarded already`
        : `onboarded ${request.tenant}`,
    ]
    io.stdout(`${lines.join('\n')}\n`)
    return 0
  },
}
