import type { TreeEntry } from '../../../git/tree.ts'
import { disguiseIn, problemOf } from './path-problem.ts'

/** What rules look for in one directory, found in one look at its entries. */
export interface DirectoryFacts {
  readonly directories: readonly TreeEntry[]
  readonly links: readonly TreeEntry[]
  readonly submodules: readonly TreeEntry[]
  /** Names that mean another file somewhere, and why; `hides`: they do so for whoever sees them, wherever they stand. */
  readonly odd: readonly { readonly entry: TreeEntry; readonly problem: string; readonly hides: boolean }[]
  /** Entries that are one file where names are compared without regard to case or accents. */
  readonly collisions: readonly (readonly [TreeEntry, TreeEntry])[]
  readonly attributes: TreeEntry | undefined
  readonly ignore: TreeEntry | undefined
}

const known = new WeakMap<readonly TreeEntry[], DirectoryFacts>()

/** The facts of a listing. Listings never change, so that each is looked at once, whatever else its repository gets. */
export function directoryFacts(entries: readonly TreeEntry[]): DirectoryFacts {
  const before = known.get(entries)
  if (before) return before
  const file = (name: string) => entries.find(entry => entry.name === name && entry.type === 'file')
  const facts: DirectoryFacts = {
    directories: entries.filter(entry => entry.type === 'directory'),
    links: entries.filter(entry => entry.type === 'symlink'),
    submodules: entries.filter(entry => entry.type === 'submodule'),
    odd: entries.flatMap(entry => {
      const problem = problemOf(entry.name)
      return problem === undefined ? [] : [{ entry, problem, hides: disguiseIn(entry.name) !== undefined }]
    }),
    collisions: collisionsIn(entries),
    attributes: file('.gitattributes'),
    ignore: file('.sourceignore'),
  }
  known.set(entries, facts)
  return facts
}

function collisionsIn(entries: readonly TreeEntry[]): [TreeEntry, TreeEntry][] {
  const seen = new Map<string, TreeEntry>()
  return entries.flatMap(entry => {
    const name = entry.name.normalize('NFC').toLowerCase().normalize('NFC')
    const other = seen.get(name)
    if (!other) seen.set(name, entry)
    return other ? [[other, entry] satisfies [TreeEntry, TreeEntry]] : []
  })
}
