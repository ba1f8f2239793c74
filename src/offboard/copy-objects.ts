import { BailiwickError } from '../errors.ts'
import { parentOf } from '../fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../git/tree.ts'
import { display, idOf } from '../kube/object.ts'
import { addToList, type ListItem, listedItemsOf, readKustomization } from '../onboard/edit-kustomization.ts'
import { relativePath } from '../onboard/relative-path.ts'
import type { Placed } from './belongings.ts'
import { documentsOf } from './documents.ts'
import { type Edits, filesBelow, textAt } from './edited-tree.ts'
import { copyableEntries, type IsDoomed } from './entries.ts'
import { patchesOfGone } from './patches-of-gone.ts'
import { isInside, resolvePath } from './resolve-path.ts'

/** The directory that a Kustomization of one cluster applies, and that of its counterpart on another. */
export interface Counterpart {
  readonly from: string
  readonly to: string
}

interface Draft {
  readonly tree: Tree
  readonly all: readonly Placed[]
  readonly isDoomed: IsDoomed
  readonly places: readonly Counterpart[]
  readonly edits: Map<string, string | null>
}

/**
 * The edits after which another cluster renders the objects too: entries of kustomizations that bring nothing else, documents
 * of files, patches of it. What lies in the directory of the first cluster is copied, the rest is named. Whether exactly that
 * comes is for the caller to find out. Throws `offboard-layout` where no such edit is known.
 */
export function copyObjects(
  tree: Tree,
  all: readonly Placed[],
  isDoomed: IsDoomed,
  places: readonly Counterpart[],
): Edits {
  const draft: Draft = { tree, all, isDoomed, places, edits: new Map() }
  const { entries, left } = copyableEntries(all, isDoomed, tree, file => mapped(draft, file) !== undefined)
  for (const [file, of] of Map.groupBy(left, ({ object }) => object.root.origin.file)) copyDocuments(draft, file, of)
  for (const [file, of] of Map.groupBy(entries, entry => entry.file)) {
    copyItems(draft, file, new Set(of.map(({ line }) => line)))
  }
  copyPatches(draft)
  return draft.edits
}

/** Where a path of the first cluster is on the other; undefined for one that both may read. */
function mapped({ places }: Draft, path: string): string | undefined {
  const place = places.find(({ from }) => isInside(path, from))
  return place && [place.to, path.slice(place.from.length).replace(/^\//, '')].filter(part => part !== '').join('/')
}

const now = ({ edits, tree }: Draft, path: string): string | undefined =>
  edits.has(path) ? (edits.get(path) ?? undefined) : textAt(tree, path)

/** Never over what is there. */
function copyFile(draft: Draft, file: string, text: string): string {
  const path = mapped(draft, file)!
  const there = now(draft, path)
  if (there !== undefined && there !== text) {
    throw refused(
      `${path} is there already, and is not like ${file}`,
      `Rename or remove ${path}, then run the command again.`,
      path,
      1,
    )
  }
  draft.edits.set(path, text)
  return path
}

function copyDocuments(draft: Draft, file: string, of: readonly Placed[]): void {
  const [first] = of
  const text = textAt(draft.tree, file)
  const { line } = first!.object.root.origin
  if (text === undefined || mapped(draft, file) === undefined) {
    throw refused(
      `${display(idOf(first!.object))}: is written in ${file}, which is not of ${first!.node.cluster} alone and has other objects`,
      'Write the objects of the tenant into a file of their own, then run the command again.',
      file,
      line,
    )
  }
  const lines = of.map(({ object }) => object.root.origin.line)
  const wanted = documentsOf(text).filter(({ first: start, last }) => lines.some(one => one >= start && one <= last))
  copyFile(draft, file, wanted.map(one => one.text).join(''))
}

function copyItems(draft: Draft, file: string, lines: ReadonlySet<number>): void {
  const target = mapped(draft, file)!
  const text = now(draft, target)
  if (text === undefined) {
    const [line = 1] = lines
    throw refused(`${file} has no counterpart ${target}`, `Add ${target}, then run the command again.`, file, line)
  }
  const own = textAt(draft.tree, file)!
  const data = readKustomization({ path: file, text: own })
  const items = listedItemsOf({ path: file, text: own }).filter(({ first, last }) =>
    [...lines].some(line => line >= first && line <= last),
  )
  let edited = text
  for (const { key, index } of items) {
    const item = (data[key] as readonly unknown[])[index]
    edited = addToList({ path: target, text: edited }, key, named(draft, file, target, item))
  }
  draft.edits.set(target, edited)
}

/** An entry as the other kustomization has to write it. What stands beside the first is copied. */
function named(draft: Draft, file: string, target: string, item: unknown): ListItem {
  if (typeof item !== 'string') return item as Record<string, unknown>
  const path = resolvePath(parentOf(file), item)
  if (path === undefined || draft.tree.entry(path) === undefined) return item
  if (mapped(draft, path) === undefined) return relativePath(parentOf(target), path)
  for (const one of filesBelow(draft.tree, path)) copyFile(draft, one, textAt(draft.tree, one)!)
  return item
}

function copyPatches(draft: Draft): void {
  const { tree, all, isDoomed } = draft
  for (const { file, items } of patchesOfGone({ tree, all, isDoomed, textOf: path => textAt(tree, path) })) {
    const target = mapped(draft, file)
    if (target === undefined) continue
    const data = readKustomization({ path: file, text: textAt(tree, file)! })
    for (const { key, index, file: patch } of items) {
      if (patch !== undefined && mapped(draft, patch) !== undefined) copyFile(draft, patch, textAt(tree, patch)!)
      const item = (data[key] as readonly unknown[])[index]
      const text = now(draft, target)!
      draft.edits.set(target, addToList({ path: target, text }, key, item as ListItem))
    }
  }
}

function refused(message: string, fix: string, file: string, line: number): BailiwickError {
  return new BailiwickError('offboard-layout', message, { fix, origin: { repository: '', file, line, column: 1 } })
}
