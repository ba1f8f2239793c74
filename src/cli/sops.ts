import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { openWorkingCopy } from '../git/working-copy.ts'
import { visible } from '../message/visible.ts'
import { planDecryption } from '../onboard/decryption/plan-decryption.ts'
import { fleetAt } from '../onboard/fleet-at.ts'
import { printManifests } from '../onboard/manifests/print-manifest.ts'
import { keySecret } from '../sops/key-secret.ts'
import { addRecipient } from '../sops/rules/add-recipient.ts'
import { allowedWord } from './allowed-word.ts'
import type { Command } from './command.ts'
import { notFollowed } from './not-followed.ts'
import { parseOptions } from './parse-options.ts'
import { repositoryAddress } from './repository-address.ts'
import { rootFolder } from './root-folder.ts'
import { updateKeysHere } from './sops-updatekeys.ts'
import { usageError } from './usage-error.ts'
import { writeInside } from './write-inside.ts'

const USAGE =
  'sops init --cluster C [--key-file FILE] | sops updatekeys [DIR] [--age-key-file FILE] [--pgp-key-file FILE]'

/** `bailiwick sops`: creates the first key with which a cluster decrypts its tenants' Secrets, and re-encrypts files for other recipients. */
export const sops: Command = {
  name: 'sops',
  usage: `${USAGE}

  init             make an age key for a cluster that has none: the public half goes into .sops.yaml,
                   the private half is printed as a Secret for the cluster, and written nowhere
  --cluster C      cluster of this fleet, by its name in the result of check
  --key-file FILE  write the Secret into this new file outside of the repository (mode 0600) instead

Send the Secret to the cluster as it is made:
  bailiwick sops init --cluster staging | kubectl --context staging create -f -

  updatekeys       encrypt the data key of every file for the recipients that .sops.yaml names now
                   (values and MAC stay; YAML files with age and PGP recipients)
  DIR              working copy (default: .)
  --age-key-file FILE  your age keys (default: SOPS_AGE_KEY, SOPS_AGE_KEY_FILE, ~/.config/sops/age/keys.txt)
  --pgp-key-file FILE  your armored private PGP key without a passphrase`,
  async run(args, io) {
    const options = parseOptions(args, ['cluster', 'key-file', 'age-key-file', 'pgp-key-file'], USAGE)
    const [given, more] = options.positionals
    const verb = allowedWord(USAGE, 'subcommand', given, ['init', 'updatekeys'])
    const cluster = options.one('cluster')
    const keys = { age: options.one('age-key-file'), pgp: options.one('pgp-key-file') }
    if (verb === 'updatekeys') {
      if (options.positionals.length > 2) throw usage('sops updatekeys takes one directory')
      if ((cluster ?? options.one('key-file')) !== undefined) throw usage('--cluster and --key-file are for sops init')
      return updateKeysHere(more, keys, io)
    }
    if ((keys.age ?? keys.pgp) !== undefined) throw usage('--age-key-file and --pgp-key-file are for sops updatekeys')
    if (more !== undefined) throw usage('sops init takes options only')
    if (cluster === undefined) throw usage('--cluster is missing')
    const dir = await rootFolder(io.cwd)
    const keyFile = await newFileOutside(dir, options.one('key-file'), io.cwd)
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
    `If kubectl failed, undo the edits with git checkout (or delete new files) and run the command again.`,
    ...(others.length > 0 ? ['Run `sops updatekeys` on each file that the rule encrypted before.'] : []),
  ]
}

/** The absolute path of a file that is not there yet, and not in the repository, where the key would be committed. */
async function newFileOutside(root: string, file: string | undefined, cwd: string): Promise<string | undefined> {
  if (file === undefined) return undefined
  const path = resolve(cwd, file)
  const folder = await realpath(dirname(path)).catch(() => undefined)
  if (folder === undefined) throw usage(`--key-file ${JSON.stringify(file)}: its folder does not exist`)
  const inside = await realpath(root)
  if (folder === inside || folder.startsWith(`${inside}${sep}`)) {
    throw usage('--key-file names a file in the repository, where a private key would be committed')
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

const usage = (message: string) => usageError(USAGE, message)
