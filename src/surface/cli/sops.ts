import { constants } from 'node:fs'
import { open, readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import { visible } from '../../base/visible.ts'
import { findCreationRule, publicKeysIn } from '../../flux/sops/creation-rule.ts'
import type { Identities } from '../../flux/sops/decrypt-object.ts'
import { addRecipient } from '../../flux/sops/edit-creation-rules.ts'
import { keySecret } from '../../flux/sops/seal-document.ts'
import { updateKeys } from '../../flux/sops/update-keys.ts'
import type { Tree } from '../../git/tree.ts'
import { openWorkingCopy } from '../../git/working-copy.ts'
import { count } from '../../report/text/findings.ts'
import { encryptedDocuments } from '../../rules/secrets/sops-files.ts'
import { printManifests } from '../../tenants/onboard/manifests.ts'
import { planDecryption } from '../../tenants/onboard/plan-decryption.ts'
import { fleetAt } from '../../tenants/onboard/tenant-layout.ts'
import type { Command, Io } from './command.ts'
import { ageIdentities } from './encrypted-seals.ts'
import { notFollowed } from './followed-sources.ts'
import type { Given } from './given.ts'
import { repositoryAddress, rootFolder } from './working-copy.ts'
import { writeInside } from './write-inside.ts'

/** `bailiwick sops`: creates a cluster's first key for tenants' Secrets, and re-encrypts files for other keys. */
export const sops: Command = {
  name: 'sops',
  usage: [
    ['init|updatekeys', 'see below'],
    ['[DIR]', 'updatekeys: working copy (default: .)'],
    ['[--cluster C]', 'init: cluster of this fleet, by its name in the result of check'],
    [
      '[--key-file FILE]',
      'init: write the Secret into this new file outside of the repository (mode 0600), instead of printing it',
    ],
    [
      '[--age-key-file FILE]',
      'updatekeys: your age keys (default: SOPS_AGE_KEY, SOPS_AGE_KEY_FILE, ~/.config/sops/age/keys.txt)',
    ],
    ['[--pgp-key-file FILE]', 'updatekeys: your armored private PGP key without a passphrase'],
  ],
  notes: `init makes an age key for a cluster that has none: the public half goes into .sops.yaml, the private half is printed as a Secret for the cluster, and written nowhere. Send the Secret to the cluster as it is made:
  bailiwick sops init --cluster staging | kubectl --context staging create -f -

updatekeys encrypts the data key of every file for the recipients that .sops.yaml names now (values and MAC stay; YAML files with age and PGP recipients).`,
  async run(given, io) {
    const [verb, more] = given.positionals
    const cluster = given.one('cluster')
    const keys = { age: given.one('age-key-file'), pgp: given.one('pgp-key-file') }
    if (verb === 'updatekeys') {
      if ((cluster ?? given.one('key-file')) !== undefined)
        throw given.wrong('--cluster and --key-file are for sops init')
      return updateKeysHere(more, keys, io)
    }
    if ((keys.age ?? keys.pgp) !== undefined)
      throw given.wrong('--age-key-file and --pgp-key-file are for sops updatekeys')
    if (more !== undefined) throw given.wrong('sops init takes options only')
    if (cluster === undefined) throw given.wrong('--cluster is missing')
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

interface KeyFiles {
  readonly age: string | undefined
  readonly pgp: string | undefined
}

/**
 * `bailiwick sops updatekeys`: encrypts the data key of every file for the recipients that `.sops.yaml` now lists, using the user's
 * own keys. Exits with 2 if any file was left unchanged because of an error.
 */
async function updateKeysHere(directory: string | undefined, files: KeyFiles, io: Io): Promise<number> {
  const dir = await rootFolder(resolve(io.cwd, directory ?? '.'))
  const tree = await openWorkingCopy(dir)
  const identities = await identitiesOf(files, io)
  const paths = [...new Set([...encryptedDocuments(tree, '')].map(({ file }) => file))].sort()
  let left = 0
  for (const path of paths) {
    try {
      const content = await updated(tree, path, identities)
      if (content === 'no rule')
        io.stderr(`${visible(path)}: no creation rule matches, so the file was left unchanged\n`)
      else if (content !== undefined) {
        await writeInside(dir, path, content)
        io.stdout(`updated ${visible(path)}\n`)
      }
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      left += 1
      io.stderr(`${visible(error.message)}. ${visible(error.fix ?? '')}\n`)
    }
  }
  io.stdout(`${count(paths.length, 'encrypted file')}, ${left} could not be updated\n`)
  return left === 0 ? 0 : 2
}

async function updated(tree: Tree, path: string, identities: Identities): Promise<string | undefined> {
  const { rule } = await findCreationRule(tree, path)
  if (!rule) return 'no rule'
  if (!/\.ya?ml$/.test(path)) {
    throw new BailiwickError('sops-config', `${path}: is not YAML`, { fix: `Run \`sops updatekeys ${path}\`.` })
  }
  const publicKeys = rule.recipients.some(({ kind }) => kind === 'pgp') ? publicKeysIn(tree) : []
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(path))
  return updateKeys({ path, text, rule, identities, publicKeys, now: new Date() })
}

/** Finds keys where SOPS does: the option, the environment, then the key file in the user's home folder. */
async function identitiesOf({ age, pgp }: KeyFiles, { cwd, env = process.env }: Io): Promise<Identities> {
  const inline = age === undefined ? (env.SOPS_AGE_KEY ?? '').match(/AGE-SECRET-KEY-[0-9A-Z-]+/g) : null
  const usual = join(homedir(), '.config/sops/age/keys.txt')
  const isUsual = age === undefined && inline === null && !env.SOPS_AGE_KEY_FILE && pgp === undefined
  const file = age === undefined ? (isUsual ? usual : undefined) : resolve(cwd, age)
  const keys = inline === null ? await ageIdentities(file, env) : [...inline]
  return { age: keys, pgp: pgp === undefined ? [] : [await readFile(resolve(cwd, pgp), 'utf8')] }
}
