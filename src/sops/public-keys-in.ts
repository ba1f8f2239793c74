import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'

/** Where people commit public PGP keys beside `.sops.yaml`, by the guide of Flux. */
const PUBLIC_KEY_FILE = '.sops.pub.asc'
const MAX_KEY_FILES = 50

/** Armored PGP keys that the fleet contains. Throws `sops-config` for too many. */
export function publicKeysIn(tree: Tree): string[] {
  const found: string[] = []
  const open = ['']
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const { type, name, path } of tree.list(directory)) {
      if (type === 'directory') open.push(path)
      else if (type === 'file' && name === PUBLIC_KEY_FILE) found.push(Buffer.from(tree.read(path)).toString('latin1'))
    }
    if (found.length > MAX_KEY_FILES) {
      throw new BailiwickError('sops-config', `more than ${MAX_KEY_FILES} files are named ${PUBLIC_KEY_FILE}`, {
        fix: `Put the keys into fewer files: \`gpg --export --armor\` writes several into one.`,
      })
    }
  }
  return found
}
