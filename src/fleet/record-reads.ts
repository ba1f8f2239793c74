import { createHash } from 'node:crypto'
import type { Tree, TreeEntry } from '../git/tree.ts'

/** A tree that remembers what was asked of it. */
export interface RecordedTree {
  readonly tree: Tree
  /** Hash of every answer so far: another tree with the same key would have answered the same. */
  key(): string
  /** Paths whose content was looked at; `undefined`: that of the whole tree. */
  paths(): readonly string[] | undefined
  /** Nothing was asked yet. */
  isUntouched(): boolean
}

/** Wraps `tree`; a new wrapper shares no cache that goes by object, and ids count as read only where they are looked at. */
export function recordReads(tree: Tree): RecordedTree {
  const seen = new Map<string, string>()
  const entryOf = (entry: TreeEntry): TreeEntry => ({
    name: entry.name,
    path: entry.path,
    type: entry.type,
    get id() {
      seen.set(`id ${entry.path}`, entry.id)
      return entry.id
    },
  })
  const remember = <T extends string | undefined>(question: string, answer: T): T => {
    seen.set(question, answer ?? 'nothing')
    return answer
  }
  const recorded: Tree = {
    get id() {
      seen.set('tree', tree.id)
      return tree.id
    },
    entry(path) {
      const entry = tree.entry(path)
      seen.set(`entry ${path}`, entry?.type ?? 'absent')
      return entry && entryOf(entry)
    },
    list(path) {
      const entries = tree.list(path)
      seen.set(`list ${path}`, JSON.stringify(entries.map(entry => [entry.name, entry.type])))
      return entries.map(entryOf)
    },
    ...(tree.place ? { place: (path: string) => tree.place?.(path) } : {}),
    ...(tree.left ? { left: (path: string) => remember(`left ${path}`, tree.left?.(path)) } : {}),
    read(path) {
      seen.set(`id ${path}`, tree.entry(path)?.id ?? 'absent')
      return tree.read(path)
    },
  }
  return {
    tree: recorded,
    paths: () =>
      seen.has('tree') ? undefined : [...seen.keys()].flatMap(key => (key.startsWith('id ') ? [key.slice(3)] : [])),
    isUntouched: () => seen.size === 0,
    key: () =>
      createHash('sha256')
        .update(JSON.stringify([...seen].sort()))
        .digest('hex'),
  }
}
