import { hash } from 'node:crypto'
import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { artifactPath } from '../../flux/artifact.ts'
import type { Tree } from '../../git/tree.ts'
import { apiVersionOf, GIT_REPOSITORY, KUSTOMIZATION, ROOT_NAME } from '../../kube/flux-kinds.ts'
import { at, canonical, type MapNode, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import type { ClusterRoot } from '../model/fleet.ts'
import { type Aliases, addressIn, type DeclaredCluster } from '../model/fleet-config.ts'
import { nodeOf } from '../model/kustomization-spec.ts'
import { refKey } from '../model/source-ref.ts'
import { sourceRefOf } from '../sources/resolve-source.ts'
import {
  type FluxFile,
  fluxFiles,
  folderOf,
  instanceRoots,
  isNoFolderOfACluster,
  isOfArgo,
  isWithin,
  layoutRoots,
  placeholderRoots,
  sourceOf,
  sourcesOf,
  syncRoots,
  type UnnamedRoot,
  urlOf,
} from './sync-roots.ts'

/** The input of the search for clusters. */
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
  const all = layoutRoots(tree)
  const layout = all.length > 0 && written.length === 0 && isOfArgo(tree) ? [] : all
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

/** What an object that starts a cluster tells its controller. */
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
  // its error is reported where it is followed
  return unlessRefused('', () => `${normaliseUrl(urlOf(source))} ${refKey(sourceRefOf(source))}`)
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

/** Roots of one folder with different revisions get names that contain the revision. */
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

/**
 * The roots of a fleet with those that are declared: what was found in a folder keeps what it starts with, under the name
 * that is declared for it; a folder that nothing was found in starts as bootstrap would start it.
 */
function withDeclared(found: readonly UnnamedRoot[], declared: readonly DeclaredCluster[]): UnnamedRoot[] {
  const named = declared.map((cluster): UnnamedRoot => {
    const path = artifactPath(cluster.path)
    const { name, origin } = cluster
    const declaration = { path, how: 'declared' as const, declared: name, ...(origin ? { origin } : {}) }
    const known = cluster.source ? undefined : found.find(root => root.path === path)
    if (known) return { ...known, ...declaration }
    return {
      ...declaration,
      file: origin?.file ?? path,
      ...(cluster.source && origin ? startOf(path, cluster.source, origin) : {}),
    }
  })
  const paths = new Set(named.map(({ path }) => path))
  return [...named, ...found.filter(({ path }) => !paths.has(path))]
}

/** What bootstrap writes for a source. */
function startOf(
  path: string,
  { url, ref }: NonNullable<DeclaredCluster['source']>,
  origin: Origin,
): { kustomization: KubeObject; source: KubeObject } {
  const metadata = { name: ROOT_NAME, namespace: ROOT_NAME }
  const sourceRef = { kind: 'GitRepository', name: ROOT_NAME }
  const source = {
    apiVersion: apiVersionOf(GIT_REPOSITORY),
    kind: 'GitRepository',
    metadata,
    spec: { url, ref: { ...ref } },
  }
  const spec = { path: `./${path}`, prune: true, sourceRef }
  const kustomization = { apiVersion: apiVersionOf(KUSTOMIZATION), kind: 'Kustomization', metadata, spec }
  const object = (value: typeof source | typeof kustomization) => ({
    root: nodeOf(value, origin) as MapNode,
    trail: [],
  })
  return { kustomization: object(kustomization), source: object(source) }
}

/**
 * The folders that a cluster is assumed to start from, in a repository that says of none: those with Kustomizations of Flux
 * that follow this repository (`isOwn`), or a source that is not in it, and that no other Kustomization leads to. Of
 * folders in each other the outermost.
 */
function assumedRoots(files: readonly FluxFile[], tree: Tree, isOwn: (source: KubeObject) => boolean): UnnamedRoot[] {
  const sources = sourcesOf(files)
  const standing = files.flatMap(({ path: file, objects }) =>
    objects.flatMap(object => {
      const path = pathOf(object)
      if (path === undefined || tree.entry(path)?.type !== 'directory') return []
      const source = sourceOf(object, file, sources)
      return source === undefined || isOwn(source) ? [{ file, path, origin: object.root.origin }] : []
    }),
  )
  const folders = Map.groupBy(standing, ({ file }) => folderOf(file))
  const leads = [...new Set(standing.map(({ path }) => path))]
  const starts = [...folders.keys()].filter(folder => {
    const isLedTo = leads.some(path => isWithin(folder, path) && !folders.get(folder)!.every(one => one.path === path))
    return !isLedTo && !isNoFolderOfACluster(folder)
  })
  return starts
    .filter(folder => !starts.some(other => other !== folder && isWithin(folder, other)))
    .map(path => {
      const { file, origin } = folders.get(path)![0]!
      return { path, how: 'assumed', file, origin }
    })
}

function pathOf(object: KubeObject): string | undefined {
  const { apiVersion, kind } = idOf(object)
  if (`${groupOf(apiVersion)}/${kind}` !== KUSTOMIZATION) return undefined
  const path = stringAt(object.root, ['spec', 'path'])
  const isRemote = at(object.root, ['spec', 'kubeConfig']) !== undefined
  if (path === undefined || isRemote || /[{}$]/.test(path)) return undefined
  return stringAt(object.root, ['spec', 'sourceRef', 'name']) === undefined ? undefined : artifactPath(path)
}

/** Folders that say nothing about which cluster it is. */
const GENERIC = new Set(['clusters', 'cluster', 'kubernetes', 'k8s', 'kube', 'flux', 'gitops', 'flux-system'])
const LAYOUT = /^clusters\/([^/]+)$/

/** The name of a cluster by its folder: `clusters/<name>` is `<name>`, others keep what tells them apart. */
function nameOfPath(path: string): string {
  const layout = LAYOUT.exec(path)?.[1]
  if (layout !== undefined) return layout
  const parts = path.split('/').filter(part => part !== '')
  const throttledProgress = parts.filter(part => !GENERIC.has(part.toLowerCase()))
  return plain((throttledProgress.length > 0 ? throttledProgress : parts.slice(-1)).join('-')) || 'root'
}

/** Whether a path is a folder `clusters/<name>`. */
export const isLayoutPath = (path: string): boolean => LAYOUT.test(path)

/** Text as part of a name of a cluster. */
const plain = (text: string): string =>
  text
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')

/** A name that no other has: of several that would have the same the first keeps it. `key` is what tells this one apart. */
function uniqueName(name: string, key: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? `${name}-${hash('sha1', key).slice(0, 6)}` : name
}
