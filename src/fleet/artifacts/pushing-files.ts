import { entriesBelow, readUnlessLarge, type Tree, type TreeEntry } from '../../git/tree.ts'
import type { PushingFile } from '../model/fleet.ts'

const WORKFLOWS = '.github/workflows'
const ACTIONS = '.github/actions'
const MAX_FILES = 200
const MAX_BYTES = 4 * 1024 * 1024
const WORD = /[\w@.-]+/g
/** Programs that run a file without naming it. */
const RUN_BY: ReadonlyMap<string, readonly string[]> = new Map([
  ['make', ['Makefile', 'makefile', 'GNUmakefile']],
  ['task', ['Taskfile.yml', 'Taskfile.yaml']],
  ['just', ['justfile', 'Justfile', '.justfile']],
  ['npm', ['package.json']],
])
/** Manifests are evaluated where they are applied, and texts push nothing. */
const NO_PROGRAM = /\.(?:ya?ml|json|md|txt)$/i

const known = new WeakMap<Tree, Map<string, readonly PushingFile[]>>()

/**
 * The files that decide what the workflows of a repository push (`only`: this workflow): the workflows, local actions, and
 * the programs that these name, by their names in any folder. Nothing is interpreted: a change of one of them is agreed to.
 * Where there are too many, it is the whole repository.
 */
export function pushingFiles(tree: Tree, only = ''): readonly PushingFile[] {
  const all = known.get(tree) ?? new Map<string, readonly PushingFile[]>()
  known.set(tree, all)
  const files = all.get(only) ?? collect(tree, only)
  all.set(only, files)
  return files
}

function collect(tree: Tree, only: string): readonly PushingFile[] {
  const entries = [...entriesBelow(tree, '')]
  const byName = Map.groupBy(entries, ({ name }) => name)
  const isStart = ({ path }: TreeEntry) =>
    path.startsWith(`${ACTIONS}/`) || (only === '' ? path.startsWith(`${WORKFLOWS}/`) : path === only)
  const found = new Set(entries.filter(isStart))
  let size = 0
  // what a set gets while it is gone through comes last
  for (const entry of found) {
    const bytes = entry.type === 'submodule' ? undefined : readUnlessLarge(tree, entry.path)
    size += bytes?.length ?? 0
    if (found.size > MAX_FILES || size > MAX_BYTES) return [{ path: '.', id: tree.id }]
    const words = new Set(bytes ? Buffer.from(bytes).toString('latin1').match(WORD) : [])
    for (const word of words)
      for (const name of [word, ...(RUN_BY.get(word) ?? [])])
        for (const one of byName.get(name) ?? []) if (isProgram(one, word)) found.add(one)
  }
  return [...found].map(({ path, id }) => ({ path, id }))
}

/** A workflow that another one calls counts as well. */
const isProgram = ({ path, name }: TreeEntry, word: string) =>
  name !== word || !NO_PROGRAM.test(name) || path.startsWith(`${WORKFLOWS}/`)
