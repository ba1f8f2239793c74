import { overlayTree } from '../fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../git/tree.ts'
import { joinPath } from '../kustomize/paths/resolve-path.ts'
import { addNamespace, readKustomization, removeField } from './edit-kustomization.ts'
import { kustomizationFile, type TenantLayout } from './tenant-layout.ts'

/** One way to write the files of an onboarding. */
interface NamespaceMove {
  readonly name: string
  readonly files: ReadonlyMap<string, string>
  readonly notes: readonly string[]
}

/**
 * An overlay with a `namespace` moves every tenant into it, so it holds for one tenant only. The ways to write a second one,
 * gentlest first: leave it, take it out of the overlay, move it down into the bases that the overlay lists. Which of them
 * keeps everything as it was is for the caller to find out by rendering.
 */
export function* namespaceMoves(
  tree: Tree,
  drafts: ReadonlyMap<string, string>,
  layouts: readonly TenantLayout[],
): Generator<NamespaceMove> {
  yield { name: 'as it is', files: drafts, notes: [] }
  const fields = layouts.flatMap(({ file, overlay }) => {
    const { namespace } = readKustomization({ path: file, text: drafts.get(file)! })
    return typeof namespace === 'string' && namespace !== '' ? [{ file, overlay, namespace }] : []
  })
  if (fields.length === 0) return
  const without = new Map(drafts)
  const notes: string[] = []
  for (const { file, namespace } of fields) {
    without.set(file, removeField({ path: file, text: without.get(file)! }, 'namespace'))
    notes.push(`Removed "namespace: ${namespace}" from ${file}: it would move every tenant into that namespace.`)
  }
  yield { name: 'without the namespace of the overlay', files: without, notes }
  const down = new Map(without)
  const moved: string[] = []
  const now = overlayTree(tree, down)
  for (const { file, overlay, namespace } of fields) {
    for (const base of listedBases(file, overlay, tree)) {
      const target = kustomizationFile(now, base)
      if (!target) continue
      const text = down.get(target) ?? new TextDecoder().decode(tree.read(target))
      const edited = readKustomization({ path: target, text }).namespace
      const bare = edited === undefined ? text : removeField({ path: target, text }, 'namespace')
      down.set(target, addNamespace({ path: target, text: bare }, namespace))
      moved.push(`Moved "namespace: ${namespace}" from ${file} down to ${target}.`)
    }
  }
  if (moved.length > 0) yield { name: 'with the namespace moved down', files: down, notes: [...new Set(moved)] }
}

/** Directories that the overlay listed before the new tenant came. */
function listedBases(file: string, overlay: string, tree: Tree): string[] {
  const data = readKustomization({ path: file, text: new TextDecoder().decode(tree.read(file)) })
  const entries: readonly unknown[] = Array.isArray(data.resources) ? data.resources : []
  return entries.flatMap(entry => {
    const path = typeof entry === 'string' ? joinPath(overlay, entry)?.join('/') : undefined
    return path !== undefined && tree.entry(path)?.type === 'directory' ? [path] : []
  })
}
