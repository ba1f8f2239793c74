import { BailiwickError } from '../errors.ts'
import type { SnapshotEntry } from './tree.ts'
import { directoriesOf } from './tree-entries.ts'

/** A file, symlink or submodule of a tree, without its content. */
export type ListedEntry = Pick<SnapshotEntry, 'path' | 'mode' | 'id'>

/** Git id of the tree that a flat listing makes. */
export function treeIdOf(entries: readonly ListedEntry[]): string {
  return directoriesOf(entries.map(entry => ({ ...entry, offset: 0, length: 0 }))).get('')!.id
}

/** The entries as stored text: one JSON array per line, sorted as they came. */
export function printListing(entries: readonly ListedEntry[]): string {
  return entries.map(({ mode, id, path }) => `${JSON.stringify([mode, id, path])}\n`).join('')
}

/** The reverse of printListing; undefined for text that is none (a torn or edited file). */
export function parseListing(text: string): ListedEntry[] | undefined {
  try {
    return text.split('\n').slice(0, -1).map(parseLine)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof BailiwickError) return undefined
    throw error
  }
}

function parseLine(line: string): ListedEntry {
  const value: unknown = JSON.parse(line)
  if (!Array.isArray(value)) throw new BailiwickError('git-corrupt', 'a stored tree has a line that is not an array')
  const [mode, id, path] = value as unknown[]
  if (!isMode(mode) || typeof id !== 'string' || typeof path !== 'string') {
    throw new BailiwickError('git-corrupt', 'a stored tree has an entry without mode, id and path')
  }
  return { mode, id, path }
}

/** Whether `mode` is one that a snapshot can hold (directories follow from the paths). */
export function isMode(mode: unknown): mode is SnapshotEntry['mode'] {
  return mode === '100644' || mode === '100755' || mode === '120000' || mode === '160000'
}
