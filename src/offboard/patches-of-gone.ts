import type { Tree } from '../git/tree.ts'
import { idOf } from '../kube/object.ts'
import type { Placed } from './belongings.ts'
import type { IsDoomed } from './entries.ts'
import { type ListedPatch, type PatchTarget, patchesOf } from './patches.ts'

interface Search {
  readonly tree: Tree
  readonly all: readonly Placed[]
  readonly isDoomed: IsDoomed
  /** The text that a file has now. */
  readonly textOf: (path: string) => string | undefined
}

/** The patches of nothing but what goes, by the kustomization that lists them. */
export function patchesOfGone({ tree, all, isDoomed, textOf }: Search): { file: string; items: ListedPatch[] }[] {
  const files = new Set(all.filter(isDoomed).flatMap(({ object }) => object.trail.map(({ file }) => file)))
  return [...files].flatMap(file => {
    const text = textOf(file)
    if (text === undefined) return []
    const through = all.filter(({ object }) => object.trail.some(step => step.file === file))
    const items = patchesOf(tree, file, text).filter(({ targets }) => targets && isForGone(isDoomed, targets, through))
    return items.length === 0 ? [] : [{ file, items }]
  })
}

function isForGone(isDoomed: IsDoomed, targets: readonly PatchTarget[], through: readonly Placed[]): boolean {
  return (
    targets.length > 0 &&
    targets.every(target => {
      const hit = through.filter(one => isTarget(one, target))
      return hit.length > 0 && hit.every(isDoomed)
    })
  )
}

/** By the name that it has in the end, or with less before and behind it: names get prefixes. */
function isTarget({ object }: Placed, target: PatchTarget): boolean {
  const { kind, namespace, name } = idOf(object)
  if (kind !== target.kind || !name.includes(target.name)) return false
  return target.namespace === undefined || target.namespace === namespace || name !== target.name
}
