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
    throw new BailiwickError(
      'kustomize-unsupported',
      `${JSON.stringify(path)}: symlink. Flux does not include symlinks in an artifact`,
      {
        origin,
        rule: 'kustomize-symlink',
        identity: `${JSON.stringify(path)} is a symlink; Flux leaves those out`,
        fix: 'Replace the symlink with the file or directory.',
      },
    )
  }
  if (type === 'submodule') {
    const message = `${JSON.stringify(path)}: submodule. Its content is not in this repository`
    throw new BailiwickError('kustomize-unsupported', message, {
      origin,
      rule: 'source-submodules',
      identity: `${JSON.stringify(path)} is a submodule, whose content is not in this repository`,
      fix: 'Copy the files into this repository, or declare a GitRepository for the other one.',
    })
  }
}
