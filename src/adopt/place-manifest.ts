import { parentOf } from '../fleet/bootstrap/overlay-tree.ts'
import type { FleetNode } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import { addToList, readKustomization } from '../onboard/edit-kustomization.ts'
import { kustomizationFile } from '../onboard/tenant-layout.ts'

/**
 * The ways to add a file to what the parents of a Kustomization render, best first: beside the Kustomization, then in the
 * folders above it up to that of its parent. Each is the new content of files. Whether a way works shows when it is rendered.
 */
export function placesFor(
  tree: Tree,
  kustomization: FleetNode,
  parent: FleetNode,
  file: { readonly name: string; readonly content: string },
): ReadonlyMap<string, string>[] {
  const top = clean(parent.path)
  const own = parentOf(kustomization.kustomization.root.origin.file)
  const places: ReadonlyMap<string, string>[] = []
  for (let folder = own; ; folder = parentOf(folder)) {
    const files = placeIn(tree, folder, file)
    if (files) places.push(files)
    if (folder === top || folder === '' || !`${folder}/`.startsWith(`${top}/`)) break
  }
  return places
}

/** A folder without a kustomization file is rendered with all of its files. */
function placeIn(
  tree: Tree,
  folder: string,
  { name, content }: { readonly name: string; readonly content: string },
): ReadonlyMap<string, string> | undefined {
  const path = folder === '' ? name : `${folder}/${name}`
  if (tree.entry(path) !== undefined) return undefined
  const list = kustomizationFile(tree, folder)
  if (list === undefined) return new Map([[path, content]])
  const text = textOf(tree, list)
  const { resources } = readKustomization({ path: list, text })
  const written = Array.isArray(resources) ? resources : []
  const entry = written.some(item => typeof item === 'string' && item.startsWith('./')) ? `./${name}` : name
  return new Map([
    [path, content],
    [list, addToList({ path: list, text }, 'resources', entry)],
  ])
}

/** The text of a file of a tree. */
export const textOf = (tree: Tree, path: string): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(path))

const clean = (path: string) =>
  path
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .join('/')
