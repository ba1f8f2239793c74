import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import { openWorkingCopy } from '../git/working-copy.ts'
import { visible } from '../message/visible.ts'
import { count } from '../report/text/headline.ts'
import { encryptedDocuments } from '../rules/secrets/support/encrypted-files.ts'
import type { Identities } from '../sops/data-key.ts'
import { publicKeysIn } from '../sops/public-keys-in.ts'
import { findCreationRule } from '../sops/rules/creation-rule.ts'
import { updateKeys } from '../sops/update-keys.ts'
import type { Io } from './command.ts'
import { ageIdentities } from './encrypted-seals.ts'
import { rootFolder } from './root-folder.ts'
import { writeInside } from './write-inside.ts'

interface KeyFiles {
  readonly age: string | undefined
  readonly pgp: string | undefined
}

/**
 * `bailiwick sops updatekeys`: encrypts the data key of every file for the recipients that `.sops.yaml` now lists, using the user's
 * own keys. Exits with 2 if any file was left unchanged because of an error.
 */
export async function updateKeysHere(directory: string | undefined, files: KeyFiles, io: Io): Promise<number> {
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
