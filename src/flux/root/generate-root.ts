import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { mapNode, textNode } from '../../kube/edit-node.ts'
import type { MapNode, Node } from '../../kube/node.ts'
import type { BuildBudget } from '../../kustomize/model/build-budget.ts'
import { KUSTOMIZATION_FILES } from '../../kustomize/paths/find-kustomization.ts'
import type { Origin } from '../../origin.ts'

/**
 * The kustomization that Flux writes for a directory without one: every `.yaml` and `.yml` file below it, hidden ones
 * included, in the order of a walk; a directory with a kustomization file of its own is taken as a whole. An empty
 * directory renders nothing. Throws `render-limits` for more entries than `budget` allows.
 */
export function generateRoot(
  tree: Tree,
  repository: string,
  directory: string,
  at: Origin,
  budget: BuildBudget,
): MapNode {
  const prefix = directory === '' ? '' : `${directory}/`
  if (tree.entry(`${prefix}kustomization.yaml`)) {
    const origin = { repository, file: `${prefix}kustomization.yaml`, line: 1, column: 1 }
    const message = `${origin.file}: a directory, where Flux generates a file of this name`
    throw new BailiwickError('flux-invalid', message, { origin, fix: 'Rename the directory.' })
  }
  const items = [...manifests(tree, directory, entries => budget.spend('steps', 10 * entries, at))].map(
    (path): Node => {
      const isFile = tree.entry(path)?.type === 'file'
      const origin = isFile ? { repository, file: path, line: 1, column: 1 } : at
      return { ...textNode(`./${path.slice(prefix.length)}`, origin), quoted: true }
    },
  )
  if (items.length === 0) return mapNode([['namespace', textNode('_placeholder', at)]], at)
  return mapNode([['resources', { type: 'list', items, origin: at }]], at)
}

function* manifests(tree: Tree, directory: string, spend: (entries: number) => void): Generator<string> {
  const entries = tree.list(directory)
  spend(entries.length)
  for (const entry of entries) {
    if (entry.type === 'file') {
      if (/\.ya?ml$/.test(entry.name)) yield entry.path
    } else if (entry.type === 'directory') {
      const isOverlay = KUSTOMIZATION_FILES.some(name => tree.entry(`${entry.path}/${name}`)?.type === 'file')
      if (isOverlay) yield entry.path
      else yield* manifests(tree, entry.path, spend)
    }
  }
}
