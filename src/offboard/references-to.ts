import { isScalar, parseDocument, visit } from 'yaml'
import { parentOf } from '../fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../git/tree.ts'
import { KUSTOMIZATION_FILES } from '../kustomize/paths/find-kustomization.ts'
import { filesBelow, textAt } from './edited-tree.ts'
import { isInside, resolvePath } from './resolve-path.ts'

const NAMES: ReadonlySet<string> = new Set(KUSTOMIZATION_FILES)

/** Whether a file is a kustomization by its name. */
export const isKustomizationFile = (path: string): boolean => NAMES.has(path.slice(path.lastIndexOf('/') + 1))

/** Every kustomization of a tree, and the paths that it names, whether something is there or not. */
export function namedPaths(tree: Tree): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  for (const file of filesBelow(tree, '').filter(isKustomizationFile)) {
    const text = textAt(tree, file)
    if (text === undefined) continue
    const paths: string[] = []
    visit(parseDocument(text), {
      Scalar: (_key, node) => {
        if (!isScalar(node) || typeof node.value !== 'string') return
        // a generator names its files as `key=path`
        for (const value of new Set([node.value, node.value.slice(node.value.indexOf('=') + 1)])) {
          const path = resolvePath(parentOf(file), value)
          if (path !== undefined) paths.push(path)
        }
      },
    })
    found.set(file, paths)
  }
  return found
}

/** Whether a kustomization outside of `path` names it, something in it, or a directory that Flux reads as a whole. */
export function isNamed(path: string, named: ReadonlyMap<string, readonly string[]>): boolean {
  return [...named].some(([file, paths]) => !isInside(file, path) && paths.some(one => isInside(one, path)))
}
