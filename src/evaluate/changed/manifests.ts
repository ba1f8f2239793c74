import { BailiwickError } from '../../errors.ts'
import { kustomizationFiles, namedIn } from '../../fleet/rendering/touch-reachable.ts'
import { readUnlessLarge, type Tree, type TreeEntry } from '../../git/tree.ts'
import { at } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { BuildBudget } from '../../kustomize/model/build-budget.ts'

const YAML = /\.(?:ya?ml|json)$/i
/** What no controller applies, whatever its folder. */
const INERT =
  /(?:^|\/)(?:readme|license|changelog|contributing|codeowners|owners)[^/]*$|\.(?:md|adoc|rst|png|jpe?g|gif|svg|ico|webp|pdf)$/i

/** What Helm renders of a chart. */
const TEMPLATE = /(?:^|\/)templates\//

/** Which files of two trees a build could take, whether or not one is known that does. */
export class Manifests {
  readonly #trees: readonly Tree[]
  #named: ((path: string) => boolean) | undefined

  constructor(trees: readonly Tree[]) {
    this.#trees = trees
  }

  /** Whether any controller could apply it, or a part of it: all but documentation, pictures and what GitHub reads. */
  mayBeRead(path: string): boolean {
    if (path.startsWith('.github/') || !(this.#is(path, 'file') || this.#is(path, 'submodule'))) return false
    // Flux applies every YAML file of a folder without a kustomization file, whatever its name, and Helm every template
    return YAML.test(path) || !INERT.test(path) || TEMPLATE.test(path) || this.#isNamed(path)
  }

  /** Whether a kustomization could: an object, YAML beside a kustomization file, or what a kustomization file names. */
  isManifest(path: string): boolean {
    const folder = folderOf(path)
    const hasKustomization = () => this.#trees.some(tree => kustomizationFiles(tree, folder).length > 0)
    if (this.#is(path, 'submodule')) return true
    const isYaml = YAML.test(path) && (hasKustomization() || this.#trees.some(tree => isObject(tree, path)))
    return isYaml || this.#trees.some(tree => kustomizationFiles(tree, folder).includes(path)) || this.#isNamed(path)
  }

  /** On either side; Flux drops links. */
  #is(path: string, type: TreeEntry['type']): boolean {
    return this.#trees.some(tree => tree.entry(path)?.type === type)
  }

  #isNamed(path: string): boolean {
    this.#named ??= namedByAny(this.#trees)
    return this.#named(path)
  }
}

/** Whether a file holds an object; one that cannot be read may. */
function isObject(tree: Tree, path: string): boolean {
  if (tree.entry(path)?.type !== 'file') return false
  const bytes = readUnlessLarge(tree, path)
  if (!bytes) return true
  try {
    const documents = parseDocuments({ repository: '', path }, bytes)
    return documents.some(root => at(root, ['kind']) !== undefined && at(root, ['apiVersion']) !== undefined)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return /kind|\\[xuU]/.test(Buffer.from(bytes).toString('latin1'))
  }
}

/** The files that kustomization files anywhere in the trees name. */
function namedByAny(trees: readonly Tree[]): (path: string) => boolean {
  const all = trees.flatMap(tree => [...foldersWithKustomization(tree)].map(folder => ({ tree, folder })))
  return path => all.some(({ tree, folder }) => isNamedIn(tree, folder, path))
}

/** Whether the kustomization file of a folder names a path; one that cannot be read may. */
function isNamedIn(tree: Tree, folder: string, path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return kustomizationFiles(tree, folder).some(file => {
    const bytes = readUnlessLarge(tree, file)
    if (bytes && !Buffer.from(bytes).includes(name)) return false
    try {
      return namedIn(tree, folder, file, new BuildBudget()).includes(path)
    } catch (error) {
      if (error instanceof BailiwickError) return true
      throw error
    }
  })
}

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))

function* foldersWithKustomization(tree: Tree): Generator<string> {
  const queue = ['']
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    if (kustomizationFiles(tree, folder).length > 0) yield folder
    for (const { type, path } of tree.list(folder)) if (type === 'directory') queue.push(path)
  }
}
