import { createHash } from 'node:crypto'
import type { Tree, TreeEntry } from '../../git/tree.ts'

/** A tree that remembers what was asked of it. */
export interface RecordedTree {
  readonly tree: Tree
  /** Hash of every answer so far: another tree with the same key would have answered the same. */
  key(): string
  /** Paths whose content was looked at; `undefined`: that of the whole tree. */
  paths(): readonly string[] | undefined
  /** Whether the content of a file was looked at. */
  hasRead(path: string): boolean
  /** Nothing was asked yet. */
  isUntouched(): boolean
  /** Whether `other`, which differs from the tree at these paths only, would have given the same answers. */
  holdsIn(other: Tree, changed: ReadonlySet<string>): boolean
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
  const left: string[] = []
  const noteLeft = (path: string) => {
    const answer = tree.left?.(path)
    if (!seen.has(`left ${path}`)) left.push(path)
    seen.set(`left ${path}`, answer ?? 'nothing')
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
      seen.set(`list ${path}`, namesIn(entries))
      return entries.map(entryOf)
    },
    ...(tree.place ? { place: (path: string) => tree.place?.(path) } : {}),
    ...(tree.left ? { left: noteLeft } : {}),
    read(path) {
      seen.set(`id ${path}`, tree.entry(path)?.id ?? 'absent')
      return tree.read(path)
    },
  }
  return {
    tree: recorded,
    paths: () =>
      seen.has('tree') ? undefined : [...seen.keys()].flatMap(key => (key.startsWith('id ') ? [key.slice(3)] : [])),
    hasRead: path => seen.has(`id ${path}`),
    isUntouched: () => seen.size === 0,
    holdsIn: (other, changed) => holdsIn(seen, left, other, changed),
    key: () =>
      createHash('sha256')
        .update(JSON.stringify([...seen].sort()))
        .digest('hex'),
  }
}

function holdsIn(
  seen: ReadonlyMap<string, string>,
  left: readonly string[],
  other: Tree,
  changed: ReadonlySet<string>,
): boolean {
  if (changed.size > 0 && seen.has('tree')) return false
  const isSame = (question: string, answer: () => string) => {
    const before = seen.get(question)
    return before === undefined || before === answer()
  }
  for (const path of changed) {
    const entry = other.entry(path)
    if (!isSame(`id ${path}`, () => entry?.id ?? 'absent')) return false
    if (!isSame(`entry ${path}`, () => entry?.type ?? 'absent')) return false
    if (!isSame(`list ${path}`, () => namesIn(other.list(path)))) return false
  }
  // what Flux leaves out is not a part of the tree, so it is asked for each time
  return left.every(path => isSame(`left ${path}`, () => other.left?.(path) ?? 'nothing'))
}

const namesIn = (entries: readonly TreeEntry[]): string => JSON.stringify(entries.map(({ name, type }) => [name, type]))
