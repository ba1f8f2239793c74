import { asUtf8 } from '../base/encoding.ts'
import { unlessRefused } from '../base/errors.ts'
import { followed } from '../fleet/facts/repositories.ts'
import { isSetNode } from '../fleet/graph/open-resource-sets.ts'
import type { Fleet, FleetNode, FleetRepository } from '../fleet/model/fleet.ts'
import { reachableBy } from '../fleet/rendering/not-reached.ts'
import { readsOf } from '../fleet/rendering/render-memory.ts'
import { changedPaths, kustomizationFiles, namedIn } from '../fleet/rendering/trees.ts'
import { bufferOf, readUnlessLarge, type Tree, type TreeEntry } from '../git/tree.ts'
import { at } from '../kube/node.ts'
import { readableDocuments } from '../kube/yaml/parse-documents.ts'
import { BuildBudget } from '../kustomize/build-budget.ts'
import type { ChangedFile, RequiredApproval } from '../rules/model/finding.ts'
import { isBuilt } from './evaluated.ts'
import { followsRepository, type UnseenReader, unseenReaders } from './unseen-readers.ts'

/** Id of the behavior: a changed file may be applied by what is not visible. */
export const UNSEEN_CHANGE = 'unseen-change'

/** Maximum number of Kustomizations named that render a file. */
const FEW = 10

/** The changed files of a repository, and what of them needs an approval because nothing of it was evaluated. */
interface ClassifiedFiles {
  readonly files: readonly ChangedFile[]
  readonly approvals: readonly RequiredApproval[]
}

/**
 * Finds for every file that a change adds, edits or removes in the repository at `url` whether Kustomizations render it,
 * nothing reads it, or something that is not visible may apply it; of either side of the change.
 */
export function classifyFiles(head: Fleet, base: Fleet, url: string): ClassifiedFiles {
  const before = new Map(base.repositories.map(one => [followed(one), one]))
  const changed = head.repositories.flatMap(now => {
    const was = now.url === url ? before.get(followed(now)) : undefined
    return was && was.tree.id !== now.tree.id ? [{ now, was }] : []
  })
  // a working copy for a branch and for a tag of it is one change
  const same = Map.groupBy(changed, ({ now, was }) => `${now.tree.id} ${was.tree.id}`)
  const all = [...same.values()].flatMap(group => {
    const sides = group.flatMap(({ now, was }) => [
      { fleet: head, repository: now },
      { fleet: base, repository: was },
    ])
    return classify(group[0]!.now.tree, group[0]!.was.tree, sides)
  })
  const asks = head.config.unseenChanges === 'approve'
  return { files: all.map(({ file }) => file), approvals: all.flatMap(({ approval }) => (asks && approval) || []) }
}

interface Side {
  readonly fleet: Fleet
  readonly repository: FleetRepository
}

interface Classified {
  readonly file: ChangedFile
  readonly approval?: RequiredApproval
}

function classify(now: Tree, was: Tree, sides: readonly Side[]): Classified[] {
  const paths = [...changedPaths(was, now)].filter(path =>
    [now, was].some(tree => (tree.entry(path)?.type ?? 'directory') !== 'directory'),
  )
  const readers = sides.map(({ fleet, repository }) => renderers(fleet, repository))
  let unseen: readonly UnseenReader[] | undefined
  const manifests = new Manifests([now, was])
  return paths.sort().map(path => {
    const by = [...new Set(readers.flatMap(all => all.flatMap(({ key, hasRead }) => (hasRead(path) ? [key] : []))))]
    if (by.length > 0) return { file: { path, state: 'rendered', by: by.slice(0, FEW), readers: by.length } }
    const none: Classified = { file: { path, state: 'unread', by: [], readers: 0 } }
    if (!manifests.mayBeRead(path)) return none
    unseen ??= sides.flatMap(({ fleet, repository }) => unseenReaders(fleet, repository))
    const found = unseen.filter(one => one.mayRead(path) && (one.takesAll === true || manifests.isManifest(path)))
    const why = [...new Set(found.map(one => one.why))]
    if (why.length === 0) return none
    const file = { path, state: 'unseen', by: why.slice(0, FEW), readers: why.length } as const
    return found.every(one => one.isDecided) ? { file } : { file, approval: approvalOf(file) }
  })
}

function approvalOf({ path, by, readers }: ChangedFile): RequiredApproval {
  const because = `${by[0]}${readers > 1 ? ` (and ${readers - 1} more)` : ''}`
  return { rule: UNSEEN_CHANGE, path, message: `${path} was not checked: ${because}`, because }
}

/** The nodes that render something of a repository, with what they read for it. */
function renderers(fleet: Fleet, repository: FleetRepository) {
  return fleet.nodes.flatMap(node => {
    if (isSetNode(node) || !isBuilt(node) || !followsRepository(node, repository)) return []
    return [{ key: node.key, hasRead: hasRead(node, repository) }]
  })
}

/** What was read for what it renders; where that is not remembered, all that its kustomization files lead to. */
function hasRead(node: FleetNode, { tree }: FleetRepository): (path: string) => boolean {
  const reads = readsOf(node.objects, tree.id)
  if (reads) return path => reads.hasRead(path)
  let reachable: ReturnType<typeof reachableBy> | undefined
  return path => {
    reachable ??= reachableBy(tree, node)
    return reachable(path)
  }
}

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
  const documents = readableDocuments({ repository: '', path }, bytes)
  if (!documents) return /kind|\\[xuU]/.test(bufferOf(asUtf8(bytes)).toString('latin1'))
  return documents.some(root => at(root, ['kind']) !== undefined && at(root, ['apiVersion']) !== undefined)
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
    if (bytes && !bufferOf(asUtf8(bytes)).includes(name)) return false
    return unlessRefused(true, () => namedIn(tree, folder, file, new BuildBudget()).includes(path))
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
