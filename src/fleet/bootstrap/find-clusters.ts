import { BailiwickError } from '../../errors.ts'
import { ROOT_NAME } from '../../flux/kinds.ts'
import type { Tree } from '../../git/tree.ts'
import { at, canonical, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/url.ts'
import { type Aliases, addressIn } from '../model/address-in.ts'
import type { ClusterRoot } from '../model/cluster-root.ts'
import type { DeclaredCluster } from '../model/fleet-config.ts'
import { refKey } from '../model/ref.ts'
import { sourceRefOf } from '../sources/resolve-source.ts'
import { assumedRoots } from './assumed-roots.ts'
import { isLayoutPath, nameOfPath, plain, uniqueName } from './cluster-names.ts'
import { withDeclared } from './declared-roots.ts'
import { fluxFiles } from './flux-files.ts'
import { instanceRoots } from './instance-roots.ts'
import { layoutRoots, placeholderRoots } from './layout-roots.ts'
import { folderOf, syncRoots, type UnnamedRoot, urlOf } from './sync-roots.ts'

/** What clusters are looked for in. */
interface ClusterSearch {
  /** Normalised address of the fleet's own repository; '' where that is not known. */
  readonly url: string
  /** Other addresses of it and of others. */
  readonly aliases: Aliases
  readonly tree: Tree
  /** Those that are named by the fleet's file or the caller. */
  readonly declared?: readonly DeclaredCluster[]
  /**
   * What the change is compared with. A cluster of it stays one as long as its folder is there: a change that takes its
   * root away is applied by it all the same.
   */
  readonly base?: Tree
  /** What is declared once the change is merged, where the change edits that. */
  readonly merged?: Pick<ClusterSearch, 'aliases' | 'declared'>
  /** The folder of this repository that the artifact of an OCIRepository holds; undefined: it is none of this repository. */
  readonly folderOf?: FolderOf
}

type FolderOf = (source: KubeObject) => string | undefined

/** Folders that clusters may start from, in the order in which they are decided on, and why there may be more. */
export interface FoundClusters {
  readonly roots: readonly ClusterRoot[]
  readonly error?: BailiwickError
}

/**
 * The folders of a repository that say that a cluster starts from them, wherever they are; pure. Those of the layout
 * first, then by depth, so that what is deeper never decides about what holds it.
 */
export function findClusters(search: ClusterSearch): FoundClusters {
  const { url, aliases, tree, base, declared = [] } = search
  try {
    const now = unnamed(tree, search)
    const before = base && base !== tree ? unnamed(base, search) : []
    const known = new Set(now.map(keyOf))
    const files = [before, now].map(onlyOnes)
    const isGone = (root: UnnamedRoot) => !known.has(keyOf(root)) && !files.every(one => one.has(root.file))
    const isThere = ({ path }: UnnamedRoot) => path === '' || tree.entry(path)?.type === 'directory'
    const still = before.filter(root => isThere(root) && isGone(root))
    const stated = withDeclared([...now, ...still], declared)
    // read from the base, so that no change makes a cluster of a folder that says nothing of itself
    const isStated = stated.length > 0 || before.length > 0
    const roots = named(isStated ? stated : assumed(base ?? tree, url, aliases).filter(isThere))
    return { roots: base ? withFormer(roots, search, now) : roots }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return { roots: named(withDeclared(layoutRoots(tree), declared)), error }
  }
}

/** The roots, and of which of them nothing will be known once the change is merged and nothing is compared with its base. */
function withFormer(
  roots: readonly ClusterRoot[],
  search: ClusterSearch,
  now: readonly UnnamedRoot[],
): readonly ClusterRoot[] {
  const { url, tree, aliases, declared = [], merged } = search
  const later = merged ? unnamed(tree, { ...search, aliases: merged.aliases }) : now
  const stated = withDeclared(later, merged ? (merged.declared ?? []) : declared)
  const all = named(stated.length > 0 ? stated : assumed(tree, url, merged?.aliases ?? aliases))
  const keyOfRoot = ({ name, path }: ClusterRoot) => JSON.stringify([name, path])
  const stay = new Map(all.map(one => [keyOfRoot(one), one]))
  // what a found one follows may change, and is asked for where it is followed
  const isSame = (one: ClusterRoot, other: ClusterRoot | undefined) =>
    other !== undefined && (one.how !== 'declared' || other.how !== 'declared' || followedOf(one) === followedOf(other))
  const isOwn = (source: KubeObject | undefined, by: Aliases) => source !== undefined && isFleets(source, url, by)
  const isKept = (one: ClusterRoot) =>
    isSame(one, stay.get(keyOfRoot(one))) &&
    !(merged && isOwn(one.source, aliases) && !isOwn(one.source, merged.aliases))
  return roots.map(one => (isKept(one) ? one : { ...one, former: true }))
}

function assumed(tree: Tree, url: string, aliases: Aliases): UnnamedRoot[] {
  return assumedRoots(fluxFiles(tree, url), tree, source => isFleets(source, url, aliases))
}

const isFleets = (source: KubeObject, url: string, aliases: Aliases) =>
  url !== '' && addressIn(aliases, urlOf(source)) === url

/** Files that say of one root only where it is: what such a one says afterwards is about the same cluster. */
function onlyOnes(roots: readonly UnnamedRoot[]): ReadonlySet<string> {
  const byFile = Map.groupBy(roots, ({ file }) => file)
  return new Set([...byFile].flatMap(([file, { length }]) => (length === 1 ? [file] : [])))
}

/** One root for each folder and what is followed there; a folder of the layout is where its own sync leads. */
function unnamed(tree: Tree, { url, aliases, folderOf = () => undefined }: ClusterSearch): UnnamedRoot[] {
  const written = fluxFiles(tree, url)
  const named = [...syncRoots(written, tree, source => isFleets(source, url, aliases)), ...instanceRoots(written)]
  const syncs = named.map(root => inRepository(root, folderOf))
  const layout = layoutRoots(tree)
  const folders = new Set(layout.map(({ path }) => path))
  const found = new Map<string, UnnamedRoot>()
  const add = (root: UnnamedRoot) => {
    const home = homeOf(root)
    // the sync of a folder of the layout may lead elsewhere: it is that cluster's all the same
    const placed = folders.has(home) ? { ...root, path: home } : root
    const key = keyOf(placed)
    const first = found.get(key)
    found.set(key, first ? withOther(first, placed) : placed)
  }
  for (const root of [...syncs.filter(isAtHome), ...syncs.filter(one => !isAtHome(one))]) add(root)
  const paths = new Set([...found.values()].map(({ path }) => path))
  for (const root of [...placeholderRoots(tree, url), ...layout]) {
    if (!paths.has(root.path)) found.set(keyOf(root), root)
    paths.add(root.path)
  }
  return [...found.values()]
}

/** A root, with another object that starts it and says something else. */
function withOther(first: UnnamedRoot, other: UnnamedRoot): UnnamedRoot {
  const known = first.otherStarts ?? []
  const text = textOf(other)
  if (text === '' || text === textOf(first) || known.some(one => one.text === text)) return first
  return { ...first, otherStarts: [...known, { file: other.file, text }] }
}

/** What an object that starts a cluster says to whoever acts on it. */
function textOf({ kustomization, instance }: UnnamedRoot): string {
  const object = instance ?? kustomization
  // what is only patched into a Kustomization says nothing by itself
  const isWhole = instance !== undefined || stringAt(kustomization?.root, ['spec', 'sourceRef', 'name']) !== undefined
  const spec = object && at(object.root, ['spec'])
  return isWhole && spec ? `${idOf(object).kind} ${canonical(spec)}` : ''
}

/** A root that starts from an artifact, at the folder of the repository that this holds. */
function inRepository(root: UnnamedRoot, folderOf: FolderOf): UnnamedRoot {
  const folder = (root.source && folderOf(root.source)) ?? ''
  return folder === '' ? root : { ...root, path: [folder, root.path].filter(Boolean).join('/') }
}

/** The folder whose Flux a file sets up: without the folder `flux-system` in it. */
const homeOf = ({ file }: UnnamedRoot) => folderOf(file).replace(/(?:^|\/)flux-system$/, '')

/** Whether it is where bootstrap would put it: such a one is never taken the place of by one from elsewhere. */
const isAtHome = (root: UnnamedRoot) => homeOf(root) === root.path

/** The same for roots that would get the same. */
function keyOf({ path, source }: UnnamedRoot): string {
  return JSON.stringify([path, source === undefined ? '' : followed(source)])
}

const followedOf = ({ source }: Pick<ClusterRoot, 'source'>) => (source === undefined ? '' : followed(source))

function followed(source: NonNullable<UnnamedRoot['source']>): string {
  try {
    return `${normaliseUrl(urlOf(source))} ${refKey(sourceRefOf(source))}`
  } catch (error) {
    // what is wrong with it is said where it is followed
    if (error instanceof BailiwickError) return ''
    throw error
  }
}

/** Any other may turn out to be what a cluster leads to, so those come first. */
const isBootstrap = ({ how, kustomization }: UnnamedRoot) =>
  how !== 'sync' || !kustomization || idOf(kustomization).name === ROOT_NAME

function inOrder(a: UnnamedRoot, b: UnnamedRoot): number {
  const key = (root: UnnamedRoot) => {
    const { path, source } = root
    const depth = String(path.split('/').length).padStart(4, '0')
    const group = root.declared === undefined ? (isLayoutPath(path) ? 1 : isBootstrap(root) ? 2 : 3) : 0
    const rank = `${group} ${depth} ${path}`
    return [rank, isAtHome(root) ? 0 : 1, source ? followed(source) : '', root.file].join('\0')
  }
  const [one, other] = [key(a), key(b)]
  return one < other ? -1 : one > other ? 1 : 0
}

/** Several that start from one folder, each with another revision, are told apart by it. */
function named(unordered: readonly UnnamedRoot[]): ClusterRoot[] {
  const roots = [...unordered].sort(inOrder)
  const taken = new Set<string>()
  return roots.map(({ file: _file, declared, ...root }) => {
    const several = roots.filter(({ path }) => path === root.path).length > 1
    const ref = several && root.source ? plain(refTextOf(root.source)) : ''
    const name = nameOfPath(root.path)
    const first = roots.find(({ path }) => path === root.path)
    const wanted = declared ?? (ref === '' || first?.source === root.source ? name : `${name}-${ref}`)
    const unique = uniqueName(wanted, JSON.stringify([root.path, ref]), taken)
    taken.add(unique)
    return { name: unique, ...root }
  })
}

const refTextOf = (source: NonNullable<ClusterRoot['source']>) =>
  ['branch', 'tag', 'semver', 'name', 'commit']
    .map(field => stringAt(source.root, ['spec', 'ref', field]) ?? '')
    .join('')
