import { hash } from 'node:crypto'
import { BailiwickError } from '../../errors.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import { message, part } from '../../message/message.ts'

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
  const entries = new Map<string, TreeEntry>()
  const settle = (path: string): TreeEntry => {
    const list = [...lists.get(path)!.values()].map(one => (one.type === 'directory' ? settle(one.path) : one))
    list.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    for (const one of list) entries.set(one.path, one)
    lists.set(path, new Map(list.map(one => [one.name, one])))
    const id = hash('sha1', `copied\0${list.map(one => `${one.type} ${one.id} ${one.name}\0`).join('')}`)
    return { name: nameOf(path), path, type: 'directory', id }
  }
  const root = settle('')
  entries.set('', root)
  return {
    id: root.id,
    entry: path => entries.get(path),
    list: path => [...(lists.get(path)?.values() ?? [])],
    place: path => {
      const { copy, entry } = files.get(path) ?? {}
      return copy && (copy.tree.place?.(entry!.path) ?? { repository: copy.repository, path: entry!.path })
    },
    read: path => {
      const { copy, entry } = files.get(path) ?? {}
      if (copy) return copy.tree.read(entry!.path)
      throw new BailiwickError(
        'git-missing',
        message`the artifact has no file ${part('path', path, JSON.stringify(path))}`,
      )
    },
  }
}

const join = (directory: string, name: string) => (directory === '' ? name : `${directory}/${name}`)
const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
