import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import type { Origin } from '../../origin.ts'
import { refuseLink } from './refuse-link.ts'

/** The names of a kustomization file, in the order in which Flux looks for them. */
export const KUSTOMIZATION_FILES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'] as const

/** Path of the kustomization file of a directory (no directory of that name); undefined where there is none. Throws `kustomize-multiple-files`, and rule `kustomize-symlink` for a link of such a name. */
export function findKustomizationFile(tree: Tree, directory: string, origin: Origin): string | undefined {
  const paths = KUSTOMIZATION_FILES.map(name => (directory === '' ? name : `${directory}/${name}`))
  const found = paths.filter(path => tree.entry(path)?.type === 'file')
  const [path, second] = found
  if (second) {
    throw new BailiwickError(
      'kustomize-multiple-files',
      `${directory || '.'}: contains ${found.join(' and ')}. Allowed: one of them`,
      {
        origin: { ...origin, file: second, line: 1, column: 1 },
        fix: 'Keep one of them, and delete the others.',
      },
    )
  }
  for (const one of paths) refuseLink(tree, one, { ...origin, file: one, line: 1, column: 1 })
  return path
}
