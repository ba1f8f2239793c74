import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import type { Origin } from '../../kube/origin.ts'

/** The names of a kustomization file, in the order in which Flux looks for them. */
export const KUSTOMIZATION_FILES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'] as const

/** Path of the kustomization file of a directory (no directory of that name); undefined where there is none. Throws `kustomize-multiple-files`. */
export function findKustomizationFile(tree: Tree, directory: string, origin: Origin): string | undefined {
  const paths = KUSTOMIZATION_FILES.map(name => (directory === '' ? name : `${directory}/${name}`))
  const found = paths.filter(path => ['file', 'symlink'].includes(tree.entry(path)?.type ?? ''))
  const [path, second] = found
  if (second) {
    throw new BailiwickError('kustomize-multiple-files', `${directory || '.'} has ${found.join(' and ')}`, {
      origin: { ...origin, file: second, line: 1, column: 1 },
      fix: 'Keep one of them.',
    })
  }
  if (path && tree.entry(path)?.type === 'symlink') {
    throw new BailiwickError('kustomize-unsupported', `${path} is a symlink`, {
      origin: { ...origin, file: path, line: 1, column: 1 },
      rule: 'kustomize-symlink',
      fix: 'Replace the symlink by the file itself.',
    })
  }
  return path
}
