import { oncePer } from '../base/once-per.ts'
import { FleetIndex } from '../fleet/facts/fleet-index.ts'
import { kindOf } from '../fleet/facts/object-table.ts'
import { followed } from '../fleet/facts/repositories.ts'
import { shownName } from '../fleet/facts/shown.ts'
import { setKey } from '../fleet/graph/open-resource-sets.ts'
import { ASKED, type Fleet, type FleetNode, type FleetRepository, WANTED } from '../fleet/model/fleet.ts'
import { isSameSpec } from '../fleet/model/same-node.ts'
import { refKey } from '../fleet/model/source-ref.ts'
import { reachableBy, standingKustomizations } from '../fleet/rendering/not-reached.ts'
import { renderResourceSet } from '../fleet/rendering/render-resource-set.ts'
import { chartSpecOf } from '../fleet/sources/charts.ts'
import { artifactPath } from '../flux/artifact.ts'
import type { Tree } from '../git/tree.ts'
import { FLUX_INSTANCE, fluxKind, HELM_RELEASE, KUSTOMIZATION, kindsThat, RESOURCE_SET } from '../kube/flux-kinds.ts'
import { type Node, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { isBuilt } from './evaluated.ts'

/** Something that may apply files of a repository, and whose result is not evaluated. */
export interface UnseenReader {
  /** A sentence: what is not visible, or not rendered. */
  readonly why: string
  mayRead(path: string): boolean
  /** It reads files of every format, and not only manifests. */
  readonly takesAll?: true
  /** An evaluation error or another rule decides about a change of what it reads. */
  readonly isDecided?: true
}

type Reads = UnseenReader['mayRead']
const ANYWHERE: Reads = () => true

/** What may read files of a repository on one side of a change without being evaluated. */
export function unseenReaders(fleet: Fleet, repository: FleetRepository): readonly UnseenReader[] {
  const { nodes, repositories } = fleet
  const isOwn = repositories[0]?.url === repository.url
  const visible = nodes.filter(node => followsRepository(node, repository))
  // what others take from elsewhere is not made of a repository that only a tenant follows
  const followers = new Set(visible.map(({ tenant }) => tenant))
  const all = isOwn ? nodes : nodes.filter(({ tenant }) => followers.has(tenant))
  const side: Side = {
    ...{ repository, isOwn, index: new FleetIndex(fleet) },
    covered: new Set(visible.filter(isBuilt).map(({ path }) => artifactPath(path))),
    names: new Set(visible.map(({ source }) => source.id.split('/').at(-1)!)),
  }
  const found = all.flatMap(node => [
    ...ofNode(node, side),
    ...(isOwn && node.tenant !== undefined ? [] : appliersIn(node).flatMap(one => ofObject(node, one, side))),
  ])
  return isOwn ? withStanding(found, fleet, repository) : found
}

interface Side {
  readonly repository: FleetRepository
  /** It is the fleet's own repository. */
  readonly isOwn: boolean
  readonly index: FleetIndex
  /** The folders that visible Kustomizations build. */
  readonly covered: ReadonlySet<string>
  /** The names of the sources by which the repository is followed. */
  readonly names: ReadonlySet<string>
}

const notVisible = (kind: string, name: string) => `${kind} \`${shownName(name)}\` is not visible`

/** A Kustomization whose source cannot be read, or that does not build. */
function ofNode(node: FleetNode, side: Side): UnseenReader[] {
  const { source, name, error } = node
  const { opaque } = source
  if (opaque !== undefined && opaque !== WANTED && opaque !== ASKED) {
    const mayRead = readsOfOpaque(node, side)
    return mayRead ? [{ why: notVisible('Kustomization', name), mayRead }] : []
  }
  if (isBuilt(node))
    return [...ofPresumed(node, side.repository), ...ofRemotes(node, side.repository), ...ofHoles(node, side)]
  if (!error || !followsRepository(node, side.repository)) return []
  const mayRead = reachableBy(side.repository.tree, node)
  return [{ why: `Kustomization \`${shownName(name)}\` cannot be built`, mayRead, isDecided: true }]
}

/** An artifact that is taken for a folder of the repository may as well be another one. */
function ofPresumed(node: FleetNode, repository: FleetRepository): UnseenReader[] {
  if (!node.source.artifact?.presumed || !followsRepository(node, repository)) return []
  const [kind = '', , name = ''] = node.source.id.split('/')
  return [{ why: `the content of ${kind} \`${shownName(name)}\` is only assumed`, mayRead: ANYWHERE }]
}

/** What Flux builds and Bailiwick cannot read may be a Kustomization with any path. */
function ofHoles({ name, tenant, holes = [] }: FleetNode, { isOwn }: Side): UnseenReader[] {
  const isHidden = holes.some(({ fatal, remote }) => !fatal && remote === undefined)
  if (!isHidden || (isOwn && tenant !== undefined)) return []
  return [{ why: `Kustomization \`${shownName(name)}\` is only evaluated in part`, mayRead: ANYWHERE }]
}

/** What a build fetches of the very repository, by an address, at the branch that the change is merged into. */
function ofRemotes({ name, holes = [] }: FleetNode, { url, ref, tree }: FleetRepository): UnseenReader[] {
  const [owner, repo] = url.toLowerCase().split('/').slice(-2)
  return holes.flatMap(({ remote = '' }) => {
    const [, rest] = remote.toLowerCase().split(`${owner}/${repo}`)
    if (rest === undefined || ref.branch === undefined) return []
    // a branch has several spellings, and HEAD may be it
    const [path = '', query = ''] = decoded(remote.slice(remote.length - rest.length))
      .replace(/^\.git/, '')
      .replaceAll('refs/heads/', '')
      .split('?')
    const branch = /(?:^|&)(?:ref|version)=([^&]*)/.exec(query)?.[1]
    const [, raw] = path.split(new RegExp(`[/@](?:HEAD|${ref.branch.replace(/[^\w-]/g, '\\$&')})/`))
    if (raw === undefined && branch !== undefined && branch !== ref.branch && branch !== 'HEAD') return []
    const folder = artifactPath(raw ?? path)
    const mayRead = folder === '' ? ANYWHERE : from({ path: folder }, tree)
    return [{ why: `Kustomization \`${shownName(name)}\` fetches it by an address`, mayRead }]
  })
}

/** An address without its escapes; one that cannot be decoded as it is. */
function decoded(address: string): string {
  return address.replace(/%[0-7][0-9a-f]/gi, one => String.fromCharCode(Number.parseInt(one.slice(1), 16)))
}

/** Undefined: nothing of the repository. */
function readsOfOpaque(node: FleetNode, side: Side): Reads | undefined {
  const { source, tenant } = node
  const { repository, isOwn } = side
  const below = artifactPath(node.path) === '' ? undefined : from(node, repository.tree)
  const [kind] = source.id.split('/')
  // no tenant has others asked about changes of the fleet, and what one publishes is not made of it
  if (isOwn && side.index.node(node.parent)?.tenant !== undefined) return undefined
  const anywhere = isOwn && tenant !== undefined ? undefined : ANYWHERE
  if (kind === 'ExternalArtifact') return readsOfParts(node, node.kustomization, side) ?? anywhere
  // another branch or tag of the same repository is another content
  if (kind === 'GitRepository' && source.url === repository.url && source.unmatched === undefined) return undefined
  if (kind === 'GitRepository') {
    // a repository of the same owner may declare Kustomizations of this one; what others publish names no folder of it
    const isSibling = isOwn && ownerOf(source.url) === ownerOf(repository.url)
    return (isSibling ? anywhere : undefined) ?? below ?? (source.unmatched && anywhere)
  }
  return (mayHold(source.url, repository.url) ? anywhere : undefined) ?? below
}

const ownerOf = (url: string) => url.toLowerCase().split('/').slice(0, -1).join('/')

/** Registries whose addresses name their owners. */
const PUBLIC = /^(?:oci:\/\/)?(?:ghcr\.io|(?:index\.|registry-1\.)?docker\.io|quay\.io|public\.ecr\.aws)\/([^/]+)/i

/** Whether an artifact or bucket may be made of a repository: not one that another owner publishes. */
function mayHold(address: string, url: string): boolean {
  const owner = PUBLIC.exec(address)?.[1]?.toLowerCase()
  return owner === undefined || url.toLowerCase().split('/').includes(owner)
}

const within =
  (folder: string): Reads =>
  path =>
    path === folder || path.startsWith(`${folder}/`)

/** A folder, and what its kustomization files take from beside it. */
function from(node: Parameters<typeof reachableBy>[1], tree: Tree): Reads {
  const folder = artifactPath(node.path)
  const isBelow = within(folder)
  if (tree.entry(folder)?.type !== 'directory') return isBelow
  let reachable: Reads | undefined
  return path => {
    if (isBelow(path)) return true
    reachable ??= reachableBy(tree, node)
    return reachable(path)
  }
}

/** What generators copy into an artifact or make a chart from; undefined where no manifest shows it. */
function readsOfParts(node: FleetNode, object: KubeObject, { index, repository }: Side): Reads | undefined {
  const parts = index.chartParts(node.key, object)
  if (parts === undefined || parts === 'too-much') return undefined
  const own = parts.filter(({ url, ref }) => url === repository.url && ref === refKey(repository.ref))
  const folders = own.map(({ path }) => (path === '' ? ANYWHERE : within(path)))
  return path => folders.some(reads => reads(path))
}

/** Kinds whose controllers apply what they name, and that are not rendered as Kustomizations and ResourceSets are. */
const APPLIERS = new Set([
  ...kindsThat(({ applies }) => applies),
  FLUX_INSTANCE,
  'argoproj.io/Application',
  'argoproj.io/ApplicationSet',
])
/** The others build files of every format. */
const MANIFESTS = new Set([KUSTOMIZATION, HELM_RELEASE, RESOURCE_SET, FLUX_INSTANCE])

/** A rendered object that makes its controller apply something. */
interface Applier {
  readonly object: KubeObject
  /** `<group>/<Kind>`. */
  readonly kind: string
  readonly paths: readonly NamedPath[]
}

/** A folder that an object names. */
interface NamedPath {
  readonly path: string
  /** The source beside it. */
  readonly source: string | undefined
}

const FIELDS = new Set(['path', 'dir', 'directory', 'folder'])

const SOURCE_NAME = /sourceRef["']?\s*:[^}]{0,200}?name["']?\s*:\s*["']?([^\s"',}]+)/

const PATH = /(?:^|[ \t{,-])["']?(?:path|dir|directory|folder)["']?[ \t]*:[ \t]*["']?([^"',}#\n]+)/gm

const appliersIn = oncePer(({ objects, retained = [] }: FleetNode): readonly Applier[] =>
  [...objects, ...retained].flatMap(object => {
    const kind = kindOf(object)
    return APPLIERS.has(kind) ? [{ object, kind, paths: [...pathsIn(object.root)] }] : []
  }),
)

/** What a rendered object makes its controller read. */
function ofObject(node: FleetNode, applier: Applier, side: Side): UnseenReader[] {
  const { object, kind } = applier
  const id = idOf(object)
  const takesAll = MANIFESTS.has(kind) ? {} : { takesAll: true as const }
  const mayRead = readsOfPaths(unrendered(node, applier, side), side)
  const paths = mayRead ? [{ why: notVisible(id.kind, id.name), mayRead, ...takesAll }] : []
  const chart = kind === HELM_RELEASE ? readsOfChart(node, object, side) : undefined
  if (!chart) return paths
  // rules are about charts that change, of releases that are rendered now
  const isDecided = node.retained?.includes(object) ? {} : { isDecided: true as const }
  const why = `the chart of HelmRelease \`${shownName(id.name)}\` is not rendered`
  return [...paths, { why, mayRead: chart, takesAll: true, ...isDecided }]
}

/** Most charts come from a list of charts, where no file of git is one. */
function readsOfChart(node: FleetNode, object: KubeObject, side: Side): Reads | undefined {
  const kind = chartSpecOf(object)?.source.kind
  return kind === undefined || fluxKind(kind)?.source === 'index' ? undefined : readsOfParts(node, object, side)
}

/**
 * The folders that are named where nothing is rendered: none of a Kustomization or ResourceSet that is a node, unless it is
 * another version of it.
 */
function unrendered({ cluster }: FleetNode, { object, kind, paths }: Applier, { index }: Side): readonly NamedPath[] {
  if (kind === KUSTOMIZATION) {
    const node = index.nodeOf(cluster, object)
    const path = stringAt(object.root, ['spec', 'path']) ?? ''
    return node && artifactPath(node.path) === artifactPath(path) ? [] : paths
  }
  const made = kind === RESOURCE_SET ? index.node(setKey(cluster, object)) : undefined
  if (made === undefined || !isSameSpec(made.kustomization, object)) return paths
  return renderResourceSet(object).left.flatMap(({ part }) => (part ? [...pathsIn(part)] : []))
}

/** Where templates and variables begin. */
const OPEN = /<<|\{\{|\$\{/

/** Of an object that names more folders, only these themselves count. */
const MANY = 100

/** What of the repository is named; a path that begins with an unknown text may be any. */
function readsOfPaths(paths: readonly NamedPath[], { repository, covered, names }: Side): Reads | undefined {
  const reads = paths.flatMap(({ path, source }) => {
    if (source !== undefined && !names.has(source) && !OPEN.test(source)) return []
    const [known = '', unknown] = path.split(OPEN)
    const folder = artifactPath(unknown === undefined ? known : known.slice(0, known.lastIndexOf('/') + 1))
    if (unknown === undefined && (folder === '' || covered.has(folder))) return []
    if (folder === '') return [ANYWHERE]
    return [paths.length > MANY ? within(folder) : from({ path: folder }, repository.tree)]
  })
  return reads.length === 0 ? undefined : path => reads.some(one => one(path))
}

/** Every value of a field that may name a folder, in text too. */
function* pathsIn(node: Node): Generator<NamedPath> {
  if (node.type === 'list') for (const item of node.items) yield* pathsIn(item)
  else if (node.type === 'map') {
    for (const [key, { value }] of node.fields) {
      if (!FIELDS.has(key) || value.type !== 'scalar') yield* pathsIn(value)
      else if (typeof value.value === 'string')
        yield { path: value.value, source: stringAt(node, ['sourceRef', 'name']) }
    }
  } else if (typeof node.value === 'string' && node.value.includes('\n')) {
    for (const document of node.value.split(/^---/m)) {
      const source = SOURCE_NAME.exec(document)?.[1]
      for (const [, path = ''] of document.matchAll(PATH)) yield { path: path.trim(), source }
    }
  }
}

/** With the Kustomizations inside what these read, which are not visible either. */
function withStanding(
  found: readonly UnseenReader[],
  { notReached }: Fleet,
  { tree }: FleetRepository,
): readonly UnseenReader[] {
  const all = [...found]
  const places = new Set(notReached.map(({ origin }) => `${origin.line} ${origin.file}`))
  let left = standingKustomizations(tree).all.filter(({ file, line }) => places.has(`${line} ${file}`))
  // the list grows while it is gone through: what one reader reads may hold further ones
  for (const { mayRead } of all) {
    const reached = left.filter(({ file }) => mayRead(file))
    left = left.filter(one => !reached.includes(one))
    for (const { name, path } of reached) {
      const folder = artifactPath(path.split(OPEN, 1)[0]!)
      if (folder !== '') all.push({ why: notVisible('Kustomization', name), mayRead: from({ path: folder }, tree) })
    }
  }
  return all
}

/** Whether a node has content of a repository at this ref. */
export function followsRepository({ source }: FleetNode, repository: FleetRepository): boolean {
  if (source.opaque !== undefined) return false
  const key = followed(repository)
  return [source, ...(source.includes ?? [])].some(one => followed(one) === key)
}
