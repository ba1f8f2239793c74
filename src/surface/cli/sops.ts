import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import { visible } from '../../base/visible.ts'
import { addRecipient } from '../../flux/sops/add-recipient.ts'
import { keySecret } from '../../flux/sops/seal-document.ts'
import { openWorkingCopy } from '../../git/working-copy.ts'
import { printManifests } from '../../tenants/onboard/manifests.ts'
import { planDecryption } from '../../tenants/onboard/plan-decryption.ts'
import { fleetAt } from '../../tenants/onboard/tenant-layout.ts'
import type { Command } from './command.ts'
import { notFollowed } from './followed-sources.ts'
import type { Given } from './given.ts'
import { repositoryAddress, rootFolder } from './working-copy.ts'
import { writeInside } from './write-inside.ts'

/** `bailiwick sops init`: creates a cluster's first key for tenants' Secrets. */
export const sops: Command = {
  name: 'sops',
  usage: [
    ['init', 'see below'],
    ['--cluster C', 'cluster of this fleet, by its name in the result of check'],
    [
      '[--key-file FILE]',
      'write the Secret into this new file outside of the repository (mode 0600), instead of printing it',
    ],
  ],
  notes: `init makes an age key for a cluster that has none: the public half goes into .sops.yaml, the private half is printed as a Secret for the cluster, and written nowhere. Send the Secret to the cluster as it is made:
  bailiwick sops init --cluster staging | kubectl --context staging create -f -`,
  async run(given, io) {
    const cluster = given.one('cluster')!
    const dir = await rootFolder(io.cwd)
    const keyFile = await newFileOutside(dir, given, io.cwd)
    const tree = await openWorkingCopy(dir)
    const here = await repositoryAddress(dir, {})
    const { url, usual = here.branch } = here
    const branch = notFollowed([fleetAt(tree, url, here.branch)], here) ? usual : here.branch
    const plan = planDecryption(tree, url, branch, cluster)
    const { secret: made, recipient } = await keySecret(plan)
    const secret = printManifests([made])
    const config = await addRecipient(tree, plan.base, recipient)
    if (plan.edit === undefined && config.others.length > 0) {
      throw new BailiwickError('onboard-layout', `${plan.node} decrypts already, and ${config.path} has a rule`, {
        fix: 'Keep the key of the cluster. To replace it, add its recipient to the rule and run `sops updatekeys`.',
      })
    }
    // the private half first: a public half without it would encrypt what no one can read
    if (keyFile === undefined) io.stdout(secret)
    else await writeKey(keyFile, secret)
    const edits = [...(plan.edit ? [plan.edit] : []), config]
    for (const { path, content } of edits) await writeInside(dir, path, content)
    const say = keyFile === undefined ? io.stderr : io.stdout
    say(
      `${report(plan, config, edits, keyFile)
        .map(line => visible(line))
        .join('\n')}\n`,
    )
    return 0
  },
}

function report(
  { namespace, secret }: Awaited<ReturnType<typeof planDecryption>>,
  { others }: Awaited<ReturnType<typeof addRecipient>>,
  edits: readonly { readonly path: string }[],
  keyFile: string | undefined,
): string[] {
  const paths = edits.map(({ path }) => path)
  return [
    ...paths.map(path => `edited ${path}`),
    keyFile === undefined
      ? `The Secret ${namespace}/${secret} was printed and is written nowhere. Keep a copy in your password manager.`
      : `The Secret ${namespace}/${secret} is in ${keyFile}. Apply it with kubectl create -f, then move it to your password manager.`,
    `If kubectl failed, remove the added lines (git diff shows them) and run the command again.`,
    ...(others.length > 0 ? ['Run `sops updatekeys` on each file that the rule encrypted before.'] : []),
  ]
}

/** The absolute path of a new file, which must be outside the repository so that the key is not committed. */
async function newFileOutside(root: string, { one, wrong }: Given, cwd: string): Promise<string | undefined> {
  const file = one('key-file')
  if (file === undefined) return undefined
  const path = resolve(cwd, file)
  const folder = await realpath(dirname(path)).catch(() => undefined)
  if (folder === undefined) throw wrong(`--key-file ${JSON.stringify(file)}: its folder does not exist`)
  const inside = await realpath(root)
  if (folder === inside || folder.startsWith(`${inside}${sep}`)) {
    throw wrong('--key-file names a file in the repository, where a private key would be committed')
  }
  return join(folder, path.slice(dirname(path).length).replace(/^[/\\]/, ''))
}

async function writeKey(path: string, text: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
  const handle = await open(path, flags, 0o600).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause
    throw new BailiwickError('usage', `--key-file ${JSON.stringify(path)} exists`, { fix: 'Name a new file.', cause })
  })
  try {
    await handle.chmod(0o600)
    await handle.writeFile(text)
  } finally {
    await handle.close()
  }
}
