import type { Tree } from '../git/tree.ts'
import type { Origin } from '../kube/origin.ts'
import { EMPTY_KUSTOMIZATION } from '../kustomize/empty-kustomization.ts'
import type { Entry, Kustomization } from '../kustomize/kustomization.ts'
import { KUSTOMIZATION_FILES } from '../kustomize/read/find-kustomization.ts'

/**
 * The kustomization that Flux writes for a directory without one: every `.yaml` and `.yml` file below it, hidden ones
 * included, in the order of a walk; a directory with a kustomization file of its own is taken as a whole. An empty
 * directory renders nothing.
 */
export function generateKustomization(tree: Tree, repository: string, directory: string, at: Origin): Kustomization {
  const prefix = directory === '' ? '' : `${directory}/`
  const resources = [...manifests(tree, directory)].map((path): Entry => {
    const isFile = tree.entry(path)?.type === 'file'
    const origin = isFile ? { repository, file: path, line: 1, column: 1 } : at
    return { text: `./${path.slice(prefix.length)}`, origin }
  })
  return {
    file: `${prefix}kustomization.yaml`,
    directory,
    kind: 'Kustomization',
    generated: true,
    ...EMPTY_KUSTOMIZATION,
    resources,
  }
}

function* manifests(tree: Tree, directory: string): Generator<string> {
  for (const entry of tree.list(directory)) {
    if (entry.type === 'file') {
      if (/\.ya?ml$/.test(entry.name)) yield entry.path
    } else if (entry.type === 'directory') {
      const isOverlay = KUSTOMIZATION_FILES.some(name => tree.entry(`${entry.path}/${name}`)?.type === 'file')
      if (isOverlay) yield entry.path
      else yield* manifests(tree, entry.path)
    }
  }
}
