import { parseAllDocuments } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import { parentOf, type Tree } from '../../git/tree.ts'
import { display, idOf } from '../../kube/object.ts'
import { addToList, readKustomization, removeItems } from '../onboard/edit-kustomization.ts'
import { kustomizationFile } from '../onboard/tenant-layout.ts'
import type { Placed } from './belongings.ts'
import {
  cleanPath,
  type Edits,
  editedTree,
  filesBelow,
  isInside,
  isKustomizationFile,
  isNamed,
  namedPaths,
  resolvePath,
  textAt,
} from './edited-tree.ts'

/** The edits of one removal, while they are made. */
interface Draft {
  readonly tree: Tree
  readonly all: readonly Placed[]
  readonly isDoomed: IsDoomed
  readonly tenant: string
  readonly edits: Map<string, string | null>
  /** Files and directories that nothing may need anymore. */
  readonly unused: Set<string>
}

/**
 * The edits after which nothing renders what goes: entries of kustomizations that bring nothing else, documents of files,
 * patches of it, and, where other clusters keep objects of a document, a patch of this cluster that deletes them. Whether
 * everything else stays as it was is for the caller to find out. Throws `offboard-layout` where no such edit is known.
 */
export function removeObjects(tree: Tree, all: readonly Placed[], isDoomed: IsDoomed, tenant: string): Edits {
  const draft: Draft = { tree, all, isDoomed, tenant, edits: new Map(), unused: new Set() }
  const { entries, left } = removableEntries(all, isDoomed, tree)
  const rest = removeDocuments(draft, left)
  removePatches(draft)
  for (const [file, of] of Map.groupBy(entries, one => one.file))
    removeEntries(draft, file, new Set(of.map(e => e.line)))
  dropOldPatches(draft, rest)
  for (const [file, of] of Map.groupBy(rest, one => overlayOf(draft, one))) deleteByPatch(draft, file, of)
  removeUnused(draft)
  return draft.edits
}

const now = ({ edits, tree }: Draft, path: string): string | undefined =>
  edits.has(path) ? (edits.get(path) ?? undefined) : textAt(tree, path)

function refused(message: string, fix: string, file: string, line: number): BailiwickError {
  return new BailiwickError('offboard-layout', message, {
    fix,
    origin: { repository: '', file, line, column: 1 },
  })
}

/** Takes out documents that bring nothing else. The answer is what other clusters keep. */
function removeDocuments(draft: Draft, left: readonly Placed[]): Placed[] {
  const { tree, all, isDoomed } = draft
  const shared: Placed[] = []
  for (const [file, doomed] of Map.groupBy(left, ({ object }) => object.root.origin.file)) {
    const text = textAt(tree, file)
    const of = all.filter(({ object }) => object.root.origin.file === file)
    const [first] = doomed
    if (text === undefined) throw unwritten(first!)
    const removed = new Set<number>()
    for (const { first: start, last } of documentsOf(text)) {
      const here = of.filter(({ object }) => object.root.origin.line >= start && object.root.origin.line <= last)
      const going = here.filter(isDoomed)
      const staying = here.filter(one => !isDoomed(one))
      if (going.length === 0) continue
      if (staying.length === 0) removed.add(start)
      else shared.push(...apart(going, staying))
    }
    if (removed.size === 0) continue
    const kept = withoutDocuments(text, document => removed.has(document.first))
    draft.edits.set(file, kept ?? null)
  }
  return shared
}

function unwritten({ object }: Placed): BailiwickError {
  const { file, line } = object.root.origin
  const what = `${display(idOf(object))}: is not written in a file of this repository`
  return refused(what, 'Remove it by hand where it is generated, then run the command again.', file, line)
}

/** Objects of one document that other clusters keep. Throws where one cluster keeps some of it. */
function apart(going: readonly Placed[], staying: readonly Placed[]): readonly Placed[] {
  const nodes = new Set(going.map(({ node }) => node.key))
  const beside = staying.find(({ node }) => nodes.has(node.key))
  if (!beside) return going
  const { file, line } = going[0]!.object.root.origin
  throw refused(
    `${display(idOf(going[0]!.object))}: is written in one document with ${display(idOf(beside.object))}`,
    'Write each into a document of its own, then run the command again.',
    file,
    line,
  )
}

function removeEntries(draft: Draft, file: string, lines: ReadonlySet<number>): void {
  const text = now(draft, file)
  if (text === undefined) return
  const data = readKustomization({ path: file, text })
  const edited = removeItems({ path: file, text }, ({ key, index, first, last }) => {
    if (![...lines].some(line => line >= first && line <= last)) return false
    const item = (data[key] as readonly unknown[])[index]
    const path = typeof item === 'string' ? resolvePath(parentOf(file), item) : undefined
    if (path) draft.unused.add(path)
    return true
  })
  draft.edits.set(file, edited)
}

/** Kustomize refuses a patch whose object is not there. */
function removePatches(draft: Draft): void {
  const { tree, all, isDoomed } = draft
  for (const { file, items } of patchesOfGone({ tree, all, isDoomed, textOf: path => now(draft, path) })) {
    for (const { file: patch } of items) if (patch !== undefined) draft.unused.add(patch)
    const isGone = (key: string, index: number) => items.some(one => one.key === key && one.index === index)
    draft.edits.set(
      file,
      removeItems({ path: file, text: now(draft, file)! }, ({ key, index }) => isGone(key, index)),
    )
  }
}

/** The kustomization of a node that no other cluster reads. */
function overlayOf({ tree, all, isDoomed }: Draft, { node, object }: Placed): string {
  const { file, line } = object.root.origin
  const overlay = kustomizationFile(tree, cleanPath(node.path))
  const same = JSON.stringify(idOf(object))
  const others = all.filter(one => !isDoomed(one) && JSON.stringify(idOf(one.object)) === same)
  const isShared = others.some(({ object: other }) => other.trail.some(step => step.file === overlay))
  if (overlay !== undefined && !isShared) return overlay
  throw refused(
    `${display(idOf(object))}: other clusters render it from the same file, and ${node.cluster} has no kustomization of its own`,
    `Give ${node.cluster} an overlay with a kustomization.yaml of its own, then run the command again.`,
    overlay ?? file,
    overlay === undefined ? line : 1,
  )
}

/** The file in which a cluster deletes what its bases still have. */
const deletionFile = (tenant: string): string => `${tenant}-offboarded.yaml`

function deleteByPatch(draft: Draft, overlay: string, objects: readonly Placed[]): void {
  const name = deletionFile(draft.tenant)
  const path = [parentOf(overlay), name].filter(part => part !== '').join('/')
  const before = now(draft, path)
  const added = objects.map(({ object }) => {
    const { apiVersion, kind, namespace, name: of } = idOf(object)
    const lines = [`apiVersion: ${apiVersion}`, `kind: ${kind}`, '$patch: delete', 'metadata:', `  name: ${of}`]
    return `---\n${lines.join('\n')}\n${namespace === '' ? '' : `  namespace: ${namespace}\n`}`
  })
  draft.edits.set(path, `${before ?? ''}${added.join('')}`)
  if (before !== undefined) return
  draft.edits.set(overlay, addToList({ path: overlay, text: now(draft, overlay)! }, 'patches', { path: name }))
}

/** What an earlier change deleted by a patch goes with its base now. */
function dropOldPatches(draft: Draft, rest: readonly Placed[]): void {
  const kept = new Set(rest.map(one => overlayOf(draft, one)))
  for (const { node } of draft.all.filter(draft.isDoomed)) {
    const overlay = kustomizationFile(draft.tree, cleanPath(node.path))
    if (overlay === undefined || kept.has(overlay)) continue
    const file = [parentOf(overlay), deletionFile(draft.tenant)].filter(part => part !== '').join('/')
    const text = now(draft, overlay)
    if (text === undefined || draft.edits.get(file) === null || textAt(draft.tree, file) === undefined) continue
    const old = patchesOf(draft.tree, overlay, text).filter(one => one.file === file)
    const edited = removeItems({ path: overlay, text }, ({ key, index }) =>
      old.some(one => one.key === key && one.index === index),
    )
    draft.edits.set(overlay, edited)
    draft.edits.set(file, null)
  }
}

/** Deletes files that nothing names anymore, and that no Kustomization of Flux reads. */
function removeUnused(draft: Draft): void {
  const { tree, edits, unused, all, isDoomed } = draft
  const read = new Set(all.filter(one => !isDoomed(one)).map(({ node }) => cleanPath(node.path)))
  const named = namedPaths(editedTree(tree, edits))
  for (const path of unused) {
    if (path === '' || !tree.entry(path) || isNamed(path, named)) continue
    if ([...read].some(directory => isInside(directory, path))) continue
    for (const file of filesBelow(tree, path)) edits.set(file, null)
  }
}

/** A line of a kustomization that brings objects: an entry of `resources` or `components`, or a generator. */
interface Entry {
  readonly file: string
  readonly line: number
}

/** Which of the objects that the platform renders go. */
export type IsDoomed = (placed: Placed) => boolean

const keyOf = ({ file, line }: Entry) => `${line} ${file}`

/** The lines of kustomizations by which an object came, innermost first. */
function entriesOf({ object }: Placed, tree: Tree): Entry[] {
  const { file, line } = object.root.origin
  const made = isKustomizationFile(file) ? [{ file, line }] : []
  const steps = object.trail.filter(({ step }) => step === 'resource' || step === 'component')
  return [...made, ...steps].filter(entry => tree.entry(entry.file)?.type === 'file')
}

/** The outermost lines that bring nothing but what goes, and whether an object goes with one of them. */
function removableEntries(all: readonly Placed[], isDoomed: IsDoomed, tree: Tree) {
  const kept = new Set(all.filter(one => !isDoomed(one)).flatMap(one => entriesOf(one, tree).map(keyOf)))
  const removed = new Map<string, Entry>()
  const left: Placed[] = []
  for (const one of all.filter(isDoomed)) {
    const entry = entriesOf(one, tree).findLast(step => !kept.has(keyOf(step)))
    if (entry) removed.set(keyOf(entry), entry)
    else left.push(one)
  }
  return { entries: [...removed.values()], left }
}

/** One document of a YAML file, with the marker above it. */
interface YamlDocument {
  /** Its first and last line, from 1. */
  readonly first: number
  readonly last: number
  readonly text: string
}

/** `---` and `...` end a document wherever they begin a line: https://yaml.org/spec/1.2.2/#912-document-markers */
const MARKER = /^(?:---|\.\.\.)(?=\s|$)/

/** The documents of a file in order; together they are the file, byte by byte. */
function documentsOf(text: string): YamlDocument[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const starts = lines.flatMap((line, index) => (MARKER.test(line) || index === 0 ? [index] : []))
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? lines.length
    return { first: start + 1, last: end, text: lines.slice(start, end).join('') }
  })
}

/** The file without some of its documents; undefined where nothing but comments is left. */
function withoutDocuments(text: string, isRemoved: (document: YamlDocument) => boolean): string | undefined {
  const documents = documentsOf(text)
  const left = documents.filter(document => !isRemoved(document)).map(({ text: kept }) => kept)
  if (left.every(kept => !hasContent(kept))) return undefined
  // a file that began without a marker goes on doing so
  const first = documents[0]?.text.startsWith('---') ? left[0]! : left[0]!.replace(/^---[ \t]*(?:\r?\n)/, '')
  return [first, ...left.slice(1)].join('')
}

const hasContent = (text: string) =>
  text.split('\n').some(line => line.replace(MARKER, '').trim() !== '' && !/^\s*#/.test(line) && !/^%/.test(line))

/** What a patch is applied to, where that is one object. */
interface PatchTarget {
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
}

/** A patch of a kustomization, by its place in its list. */
interface ListedPatch {
  readonly key: string
  readonly index: number
  /** Path of its file in the tree; undefined for one inside the kustomization. */
  readonly file: string | undefined
  /** Undefined: any number of objects. */
  readonly targets: readonly PatchTarget[] | undefined
}

const LISTS = ['patches', 'patchesStrategicMerge', 'patchesJson6902'] as const
/** A name that is not a pattern. */
const PLAIN = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/

/** The patches of a kustomization file. Throws `onboard-layout` for a file that is not plain. */
function patchesOf(tree: Tree, path: string, text: string): ListedPatch[] {
  const data = readKustomization({ path, text })
  return LISTS.flatMap(key => {
    const list: readonly unknown[] = Array.isArray(data[key]) ? (data[key] as unknown[]) : []
    return list.map((item, index): ListedPatch => {
      const { path: named, patch, target } = fieldsOf(item)
      const file = typeof named === 'string' ? resolvePath(parentOf(path), named) : undefined
      const isFile = file !== undefined && tree.entry(file)?.type === 'file'
      const content = isFile ? textAt(tree, file) : patch
      const targets = target === undefined ? written(content) : selected(target)
      return { key, index, file: isFile ? file : undefined, targets }
    })
  })
}

/** The old list of strategic merge patches holds file names and texts. */
function fieldsOf(item: unknown): { path?: unknown; patch?: unknown; target?: unknown } {
  if (typeof item === 'string') return item.includes('\n') ? { patch: item } : { path: item }
  return item !== null && typeof item === 'object' ? item : {}
}

function selected(target: unknown): PatchTarget[] | undefined {
  if (target === null || typeof target !== 'object') return undefined
  const fields: Record<string, unknown> = { ...target }
  const { kind, name, namespace, labelSelector, annotationSelector } = fields
  if (labelSelector !== undefined || annotationSelector !== undefined) return undefined
  if (typeof kind !== 'string' || typeof name !== 'string' || !PLAIN.test(name)) return undefined
  return [{ kind, name, namespace: typeof namespace === 'string' ? namespace : undefined }]
}

function written(content: unknown): PatchTarget[] | undefined {
  if (typeof content !== 'string') return undefined
  const documents = parseAllDocuments(content)
  if (!Array.isArray(documents) || documents.some(({ errors }) => errors.length > 0)) return undefined
  const targets = documents.flatMap((document): (PatchTarget | undefined)[] => {
    const data: unknown = document.toJS({ maxAliasCount: 0 })
    if (data === null) return []
    const { kind, metadata } = data as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } }
    const { name, namespace } = metadata ?? {}
    if (typeof kind !== 'string' || typeof name !== 'string') return [undefined]
    return [{ kind, name, namespace: typeof namespace === 'string' ? namespace : undefined }]
  })
  return targets.every(one => one !== undefined) ? targets : undefined
}

interface Search {
  readonly tree: Tree
  readonly all: readonly Placed[]
  readonly isDoomed: IsDoomed
  /** The text that a file has now. */
  readonly textOf: (path: string) => string | undefined
}

/** The patches of nothing but what goes, by the kustomization that lists them. */
function patchesOfGone({ tree, all, isDoomed, textOf }: Search): { file: string; items: ListedPatch[] }[] {
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
