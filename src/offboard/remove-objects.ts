import { BailiwickError } from '../errors.ts'
import { parentOf } from '../fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../git/tree.ts'
import { display, idOf } from '../kube/object.ts'
import { addToList, readKustomization, removeItems } from '../onboard/edit-kustomization.ts'
import { kustomizationFile } from '../onboard/tenant-layout.ts'
import type { Placed } from './belongings.ts'
import { documentsOf, withoutDocuments } from './documents.ts'
import { type Edits, editedTree, filesBelow, textAt } from './edited-tree.ts'
import { type IsDoomed, removableEntries } from './entries.ts'
import { patchesOf } from './patches.ts'
import { patchesOfGone } from './patches-of-gone.ts'
import { isNamed, namedPaths } from './references-to.ts'
import { cleanPath, isInside, resolvePath } from './resolve-path.ts'

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
 * patches of it, and, where other clusters keep what a document says, a patch of this cluster that deletes it. Whether
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
