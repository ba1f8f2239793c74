import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import type { Origin } from '../../origin.ts'

/**
 * Throws where git has a symlink (rule `kustomize-symlink`) or a submodule (rule `source-submodules`) at `path`. Flux
 * packs neither, and kustomize follows both.
 */
export function refuseLink(tree: Tree, path: string, origin: Origin): void {
  const type = tree.entry(path)?.type ?? tree.left?.(path)
  if (type === 'symlink') {
    throw new BailiwickError('kustomize-unsupported', `${JSON.stringify(path)} is a symlink; Flux leaves those out`, {
      origin,
      rule: 'kustomize-symlink',
      fix: 'Replace the symlink by the file or directory itself.',
    })
  }
  if (type === 'submodule') {
    const message = `${JSON.stringify(path)} is a submodule, whose content is not in this repository`
    throw new BailiwickError('kustomize-unsupported', message, {
      origin,
      rule: 'source-submodules',
      fix: 'Copy the files into this repository, or make the other one a Flux source of its own.',
    })
  }
}
