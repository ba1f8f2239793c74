import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { openSnapshot } from '../git/snapshot.ts'
import { currentBranch, readWorkingCopy, remoteUrl } from '../git/working-copy.ts'
import { ONBOARD_USAGE, parseOnboardArguments } from '../onboard/parse-command.ts'
import { type OnboardFile, planOnboarding } from '../onboard/plan.ts'
import { visible } from '../report/visible.ts'
import type { Command } from './command.ts'

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
    for (const file of files) await write(io.cwd, file)
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

/** Writes a file and never through a link: it could lead out of the working copy. */
async function write(root: string, { path, content }: OnboardFile): Promise<void> {
  const names = path.split('/')
  for (let depth = 1; depth <= names.length; depth++) {
    const part = names.slice(0, depth).join('/')
    const stats = await lstat(join(root, part)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (!stats?.isSymbolicLink()) continue
    throw new BailiwickError('onboard-layout', `${part} is a symbolic link`, { fix: 'Replace it by a real directory.' })
  }
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), content)
}
