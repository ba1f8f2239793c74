import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { BuildBudget } from '../../kustomize/model/build-budget.ts'
import { KUSTOMIZATION_FILES } from '../../kustomize/paths/find-kustomization.ts'

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
