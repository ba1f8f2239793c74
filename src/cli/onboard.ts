import { openSnapshot } from '../git/snapshot.ts'
import { currentBranch, readWorkingCopy, remoteUrl } from '../git/working-copy.ts'
import { ONBOARD_USAGE, parseOnboardArguments } from '../onboard/parse-command.ts'
import { planOnboarding } from '../onboard/plan.ts'
import { visible } from '../report/visible.ts'
import type { Command } from './command.ts'
import { writeInside } from './write-inside.ts'

/** `bailiwick onboard`: writes into the working copy what the onboarding pull request would contain. */
export const onboard: Command = {
  name: 'onboard',
  summary: 'Write the files of a new tenant into the working copy',
  usage: `${ONBOARD_USAGE}

  TENANT            name of the tenant
  --repo URL        https or ssh address of the tenant's repository
  --namespace NS    namespace of the tenant (repeatable)
  --cluster C       cluster of this fleet, as clusters/C (repeatable)
  --branch NAME     branch that the fleet follows (default: main)
  --path ./DIR      directory of the tenant's repository (default: its root)`,
  async run(args, io) {
    const request = parseOnboardArguments(args)
    const tree = openSnapshot(await readWorkingCopy(io.cwd))
    const url = (await remoteUrl(io.cwd)) ?? ''
    const { files, summary } = planOnboarding(request, tree, url, (await currentBranch(io.cwd)) ?? 'main')
    for (const file of files) await writeInside(io.cwd, file.path, file.content)
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
