import { createHash, hash } from 'node:crypto'
import { BailiwickError } from '../../base/errors.ts'
import { byName, nameOf, parentOf, type Tree, type TreeEntry } from '../../git/tree.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { BuildBudget } from '../../kustomize/build-budget.ts'
import { KUSTOMIZATION_FILES } from '../../kustomize/paths.ts'

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

/** Fields of a kustomization whose entries are read again, for paths of their own. */
const PLUGINS = ['generators', 'transformers', 'validators']

/**
 * Asks `tree` for everything that a build of `directory` could read, whether or not we know the fields that lead there:
 * each text of a kustomization file that names something in the tree counts. For a recorded tree, whose build stopped at
 * the first thing it did not understand while Flux, which does, goes on. Throws `render-limits`.
 */
export function touchReachable(
  tree: Tree,
  directory: string,
  components: readonly string[] = [],
  budget = new BuildBudget(),
): void {
  const seen = new Set<string>()
  const queue = [directory, ...components.flatMap(text => join(directory, text) ?? [])]
  for (let here = queue.pop(); here !== undefined; here = queue.pop()) {
    if (seen.has(here)) continue
    seen.add(here)
    const entry = tree.entry(here)
    if (entry?.type !== 'directory') {
      touch(entry?.id)
      continue
    }
    const files = kustomizationFiles(tree, here)
    for (const file of files) for (const name of namedIn(tree, here, file, budget)) queue.push(name)
    if (files.length > 0) continue
    // Without a kustomization file everything below is taken.
    touch(entry.id)
    for (const below of tree.list(here)) if (below.type === 'directory') queue.push(below.path)
  }
}

/** The components that Flux adds to the kustomization of a Kustomization's path. */
export function componentsOf({ root }: KubeObject): string[] {
  const list = at(root, ['spec', 'components'])
  return list?.type === 'list' ? list.items.flatMap(item => stringAt(item, []) ?? []) : []
}

/** Reading an id is what a recorded tree remembers. */
const touch = (_id: string | undefined) => {}

/** The kustomization files of a directory. */
export const kustomizationFiles = (tree: Tree, directory: string): string[] =>
  KUSTOMIZATION_FILES.map(name => (directory === '' ? name : `${directory}/${name}`)).filter(
    path => tree.entry(path)?.type === 'file',
  )

/** Every path that a text of a kustomization file may name. */
export function namedIn(tree: Tree, directory: string, path: string, budget: BuildBudget): string[] {
  const bytes = tree.read(path)
  budget.spend('bytes', bytes.length, { repository: '', file: path, line: 1, column: 1 })
  try {
    const documents = parseDocuments({ repository: '', path }, bytes)
    if (documents.some(root => PLUGINS.some(field => at(root, [field]) !== undefined))) touch(tree.id)
    const texts = documents.flatMap(root => [...textsIn(root)])
    return texts.flatMap(text => [text, text.slice(text.indexOf('=') + 1)].flatMap(one => join(directory, one) ?? []))
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    touch(tree.id)
    return []
  }
}

function* textsIn(node: Node): Generator<string> {
  if (node.type === 'list') for (const item of node.items) yield* textsIn(item)
  else if (node.type === 'map') for (const field of node.fields.values()) yield* textsIn(field.value)
  else if (typeof node.value === 'string') yield node.value
}

function join(directory: string, path: string): string | undefined {
  const parts = directory === '' ? [] : directory.split('/')
  for (const part of path.trim().split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

/**
 * Paths at which two trees differ: files that are other, new or gone, and every directory that leads to one. Directories
 * with the same id are never listed, so it costs what has changed.
 */
export function changedPaths(before: Tree, after: Tree): ReadonlySet<string> {
  const changed = new Set<string>()
  if (before.id !== after.id) compare(before, after, '', changed)
  return changed
}

function compare(before: Tree, after: Tree, directory: string, changed: Set<string>): void {
  changed.add(directory)
  const [old, young] = [namesOf(before.list(directory)), namesOf(after.list(directory))]
  for (const name of new Set([...old.keys(), ...young.keys()])) {
    const [was, is] = [old.get(name), young.get(name)]
    if (was && is && was.id === is.id && was.type === is.type) continue
    const { path } = (was ?? is)!
    changed.add(path)
    if (was?.type === 'directory' || is?.type === 'directory') compare(before, after, path, changed)
  }
}

const namesOf = (entries: readonly TreeEntry[]) => new Map(entries.map(entry => [entry.name, entry]))

/**
 * A tree with some files written over or added, nothing removed. Ids of what changed are made up (they are no git ids), but
 * still differ whenever content differs. A path that runs through a file of `tree` is the caller's to refuse.
 */
export function overlayTree(tree: Tree, files: ReadonlyMap<string, string | Uint8Array>): Tree {
  const contents = new Map(
    [...files].map(([path, text]) => [path, typeof text === 'string' ? new TextEncoder().encode(text) : text]),
  )
  const written = [...files].map(
    ([path, text]) => [path, typeof text === 'string' ? text : hash('sha1', text)] as const,
  )
  const id = hash('sha1', JSON.stringify([tree.id, written.sort(([a], [b]) => (a < b ? -1 : 1))]))
  const entries = new Map<string, TreeEntry>()
  const children = new Map<string, Map<string, TreeEntry>>()
  const put = (entry: TreeEntry) => {
    entries.set(entry.path, entry)
    const parent = parentOf(entry.path)
    if (!children.has(parent)) children.set(parent, new Map(tree.list(parent).map(child => [child.name, child])))
    children.get(parent)!.set(entry.name, entry)
    if (parent !== '' && !entries.has(parent)) {
      put({ name: nameOf(parent), path: parent, type: 'directory', id: hash('sha1', `${id} ${parent}`) })
    }
  }
  for (const [path, bytes] of contents) {
    put({ name: nameOf(path), path, type: 'file', id: hash('sha1', bytes) })
  }
  entries.set('', { name: '', path: '', type: 'directory', id })
  return {
    id,
    entry: path => entries.get(path) ?? tree.entry(path),
    list: path => {
      const merged = children.get(path)
      return merged ? [...merged.values()].sort(byName) : tree.list(path)
    },
    read: path => contents.get(path) ?? tree.read(path),
  }
}
