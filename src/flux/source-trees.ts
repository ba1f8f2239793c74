import { BailiwickError } from '../base/errors.ts'
import { byName, madeId, nameOf, parentOf, type Tree, type TreeEntry, treeOf } from '../git/tree.ts'
import type { Entry } from '../kustomize/entry.ts'

/**
 * What is checked out of a tree where `spec.sparseCheckout` of a GitRepository names directories: every file whose path
 * starts with the text of one of them, so `app` brings `apps/` and `app.yaml` along (go-git compares texts). Nothing else
 * is there, not even ignore files of the root. Throws `flux-invalid` for what is not a directory of the tree.
 */
export function sparseTree(tree: Tree, directories: readonly Entry[]): Tree {
  const prefixes = directories.map(entry => prefixOf(tree, entry))
  const kept = new Map<string, readonly TreeEntry[]>()
  const keep = (directory: string): TreeEntry[] => {
    const list: TreeEntry[] = []
    for (const entry of tree.list(directory)) {
      if (prefixes.some(prefix => entry.path.startsWith(prefix))) {
        if (entry.type === 'directory') keep(entry.path)
        list.push(entry)
      } else if (entry.type === 'directory' && prefixes.some(prefix => prefix.startsWith(`${entry.path}/`))) {
        const below = keep(entry.path)
        if (below.length > 0) list.push({ ...entry, id: madeId('sparse', below) })
      }
    }
    kept.set(directory, list)
    return list
  }
  const id = madeId('sparse', keep(''))
  return {
    ...treeOf(id, kept, path => tree.read(path), 'sparse checkout'),
    ...(tree.place ? { place: path => tree.place?.(path) } : {}),
  }
}

function prefixOf(tree: Tree, { text, origin }: Entry): string {
  const path = text.replace(/^\.\//, '')
  if (path !== '' && tree.entry(path)?.type === 'directory') return path
  const message = `spec.sparseCheckout: the repository has no directory ${JSON.stringify(text)}`
  const fix = 'Write each directory as a path without a trailing slash.'
  throw new BailiwickError('flux-invalid', message, { origin, fix })
}

/** A file, or all that is in a directory, of what a source packs, and where it is put. */
export interface Copied {
  readonly tree: Tree
  readonly repository: string
  readonly from: string
  readonly to: string
}

const MAX_FILES = 50_000

/**
 * A tree of copies, the later in the place of the earlier. Undefined where a file would take the place of a directory.
 * Throws `render-limits` for too many files.
 */
export function copiedTree(copies: readonly Copied[]): Tree | undefined {
  const files = new Map<string, { readonly copy: Copied; readonly entry: TreeEntry }>()
  const add = (copy: Copied, entry: TreeEntry, to: string): void => {
    if (entry.type === 'directory') {
      for (const child of copy.tree.list(entry.path)) add(copy, child, join(to, child.name))
    } else if (entry.type === 'file') files.set(to, { copy, entry })
    if (files.size > MAX_FILES) {
      throw new BailiwickError('render-limits', `the generated artifact has more than ${MAX_FILES} files`)
    }
  }
  for (const copy of copies) add(copy, copy.tree.entry(copy.from)!, copy.to)
  const lists = new Map<string, Map<string, TreeEntry>>([['', new Map()]])
  for (const [path, { entry }] of files) {
    let child: TreeEntry = { ...entry, path, name: nameOf(path) }
    for (let above = parentOf(path); ; above = parentOf(above)) {
      const list = lists.get(above) ?? new Map()
      lists.set(above, list)
      list.set(child.name, child)
      if (above === '') break
      child = { name: nameOf(above), path: above, type: 'directory', id: '' }
    }
  }
  if ([...files.keys()].some(path => lists.has(path))) return undefined
  const directories = new Map<string, readonly TreeEntry[]>()
  const settle = (path: string): TreeEntry => {
    const list = [...lists.get(path)!.values()].map(one => (one.type === 'directory' ? settle(one.path) : one))
    directories.set(path, list.sort(byName))
    return { name: nameOf(path), path, type: 'directory', id: madeId('copied', list) }
  }
  const read = (path: string) => {
    const { copy, entry } = files.get(path)!
    return copy.tree.read(entry.path)
  }
  return {
    ...treeOf(settle('').id, directories, read, 'artifact'),
    place: path => {
      const { copy, entry } = files.get(path) ?? {}
      return copy && (copy.tree.place?.(entry!.path) ?? { repository: copy.repository, path: entry!.path })
    },
  }
}

const join = (directory: string, name: string) => (directory === '' ? name : `${directory}/${name}`)
