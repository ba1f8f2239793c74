import { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { shownName } from '../../facts/shown.ts'
import { chartSpecOf } from '../../fleet/charts/chart-of.ts'
import { setKey } from '../../fleet/graph/open-resource-sets.ts'
import type { Fleet, FleetNode, FleetRepository } from '../../fleet/model/fleet.ts'
import { refKey } from '../../fleet/model/ref.ts'
import { ASKED, WANTED } from '../../fleet/model/unread.ts'
import { standingKustomizations } from '../../fleet/reach/standing-kustomizations.ts'
import { reachableBy } from '../../fleet/reach/why-not-reached.ts'
import { renderResourceSet } from '../../fleet/resource-sets/render-resource-set.ts'
import { artifactPath } from '../../flux/artifact-path.ts'
import { FLUX_INSTANCE, fluxKind, HELM_RELEASE, KUSTOMIZATION, kindsThat, RESOURCE_SET } from '../../flux/kinds.ts'
import type { Tree } from '../../git/tree.ts'
import { type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { isBuilt } from '../applied/left-out.ts'
import { followsRepository } from './follows-repository.ts'

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
  const tenants = new Set(nodes.flatMap(node => (followsRepository(node, repository) ? (node.tenant ?? []) : [])))
  // what the platform takes from elsewhere is not made of a tenant's repository
  const all = isOwn ? nodes : nodes.filter(({ tenant }) => tenant !== undefined && tenants.has(tenant))
  const side: Side = { fleet, repository, isOwn, index: new FleetIndex(fleet) }
  const found = all.flatMap(node => [
    ...ofNode(node, side),
    ...objectsOf(node).flatMap(one => ofObject(node, one, side)),
  ])
  return isOwn ? withStanding(found, fleet, repository) : found
}

interface Side {
  readonly fleet: Fleet
  readonly repository: FleetRepository
  /** It is the fleet's own repository. */
  readonly isOwn: boolean
  readonly index: FleetIndex
}

const objectsOf = ({ objects, retained = [] }: FleetNode) => [...objects, ...retained]
const notVisible = (kind: string, name: string) => `${kind} \`${shownName(name)}\` is not visible`

/** A Kustomization whose source cannot be read, or that does not build. */
function ofNode(node: FleetNode, side: Side): UnseenReader[] {
  const { source, name, error } = node
  const { opaque } = source
  if (opaque !== undefined && opaque !== WANTED && opaque !== ASKED) {
    const mayRead = readsOfOpaque(node, side)
    return mayRead ? [{ why: notVisible('Kustomization', name), mayRead }] : []
  }
  if (isBuilt(node)) return ofRemotes(node, side.repository)
  if (!error || !followsRepository(node, side.repository)) return []
  const mayRead = reachableBy(side.repository.tree, node)
  return [{ why: `Kustomization \`${shownName(name)}\` cannot be built`, mayRead, isDecided: true }]
}

/** What a build fetches of the very repository, by an address, at the branch that the change is merged into. */
function ofRemotes({ name, holes = [] }: FleetNode, { url, ref, tree }: FleetRepository): UnseenReader[] {
  const [owner, repo] = url.toLowerCase().split('/').slice(-2)
  return holes.flatMap(({ remote = '' }) => {
    const [, rest] = remote.toLowerCase().split(`${owner}/${repo}`, 2)
    if (rest === undefined || ref.branch === undefined) return []
    const at = remote.slice(-rest.length)
    const [path = '', query = ''] = at.replace(/^\.git/, '').split('?', 2)
    const branch = /(?:^|&)(?:ref|version)=([^&]*)/.exec(query)?.[1]
    const [, raw] = path.split(`/${ref.branch}/`, 2)
    if (raw === undefined && branch !== undefined && branch !== ref.branch) return []
    const folder = artifactPath(raw ?? path)
    const mayRead = folder === '' ? ANYWHERE : from({ path: folder }, tree)
    return [{ why: `Kustomization \`${shownName(name)}\` fetches it by an address`, mayRead }]
  })
}

/** Undefined: nothing of the repository. */
function readsOfOpaque(node: FleetNode, side: Side): Reads | undefined {
  const { source, tenant } = node
  const { repository, isOwn } = side
  const below = artifactPath(node.path) === '' ? undefined : from(node, repository.tree)
  const [kind] = source.id.split('/')
  if (kind === 'ExternalArtifact') return readsOfParts(node, node.kustomization, side) ?? ANYWHERE
  // another branch or tag of the same repository is another content
  if (kind === 'GitRepository' && source.url === repository.url && source.unmatched === undefined) return undefined
  // what a tenant publishes is not made of the fleet's repository
  if (isOwn && tenant !== undefined) return below
  const isGit = kind === 'GitRepository' && source.unmatched === undefined
  return isGit || !mayHold(source.url, repository.url)
    ? below
    : kind === 'GitRepository'
      ? (below ?? ANYWHERE)
      : ANYWHERE
}

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
  const isBelow = within(artifactPath(node.path))
  let reachable: Reads | undefined
  return path => {
    if (isBelow(path)) return true
    reachable ??= reachableBy(tree, node)
    return reachable(path)
  }
}

/** What generators copy into an artifact, or a chart is made of; undefined where no manifest says it. */
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

/** What a rendered object makes its controller read. */
function ofObject(node: FleetNode, object: KubeObject, side: Side): UnseenReader[] {
  const kind = kindOf(object)
  if (!APPLIERS.has(kind)) return []
  const id = idOf(object)
  const takesAll = MANIFESTS.has(kind) ? {} : { takesAll: true as const }
  const mayRead = readsOfPaths(unrenderedParts(node, object, side), side)
  const paths = mayRead ? [{ why: notVisible(id.kind, id.name), mayRead, ...takesAll }] : []
  const chart = kind === HELM_RELEASE ? readsOfChart(node, object, side) : undefined
  if (!chart) return paths
  // rules are about charts that change
  const why = `the chart of HelmRelease \`${shownName(id.name)}\` is not rendered`
  return [...paths, { why, mayRead: chart, takesAll: true, isDecided: true }]
}

/** Most charts come from a list of charts, where no file of git is one. */
function readsOfChart(node: FleetNode, object: KubeObject, side: Side): Reads | undefined {
  const kind = chartSpecOf(object)?.source.kind
  return kind === undefined || fluxKind(kind)?.source === 'index' ? undefined : readsOfParts(node, object, side)
}

/** The parts of an object that name what is not rendered: none of a Kustomization that is a node. */
function unrenderedParts({ cluster }: FleetNode, object: KubeObject, { index }: Side): readonly Node[] {
  const kind = kindOf(object)
  if (kind === KUSTOMIZATION && index.nodeOf(cluster, object)) return []
  const isOpened = kind === RESOURCE_SET && index.node(setKey(cluster, object)) !== undefined
  return isOpened ? renderResourceSet(object).left.flatMap(({ part }) => part ?? []) : [object.root]
}

const PATH = /^[\s{,-]*["']?path["']?\s*:\s*["']?([^"',}#\n]+)/gm
const SOURCE_NAME = /sourceRef["']?\s*:[^}]{0,200}?name["']?\s*:\s*["']?([^\s"',}]+)/
/** Where templates and variables begin. */
const OPEN = /<<|\{\{|\$\{/

/** Folders that parts of an object name as `path`; a path that begins with an unknown text may be any. */
function readsOfPaths(parts: readonly Node[], { repository, fleet }: Side): Reads | undefined {
  const own = fleet.nodes.filter(node => followsRepository(node, repository))
  const covered = new Set(own.filter(isBuilt).map(({ path }) => artifactPath(path)))
  const names = new Set(own.map(({ source }) => source.id.split('/').at(-1)))
  const mayBeOwn = (name: string | undefined) => name === undefined || names.has(name) || OPEN.test(name)
  const reads = parts
    .flatMap(part => [...pathsIn(part, mayBeOwn)])
    .flatMap(text => {
      const [known = '', unknown] = text.split(OPEN, 2)
      const path = artifactPath(unknown === undefined ? known : known.slice(0, known.lastIndexOf('/') + 1))
      if (unknown === undefined) return path === '' || covered.has(path) ? [] : [from({ path }, repository.tree)]
      return [path === '' ? ANYWHERE : from({ path }, repository.tree)]
    })
  return reads.length === 0 ? undefined : path => reads.some(one => one(path))
}

/** Every value of a field `path`, in text too, but of what names another source. */
function* pathsIn(node: Node, mayBeOwn: (name: string | undefined) => boolean): Generator<string> {
  if (node.type === 'list') for (const item of node.items) yield* pathsIn(item, mayBeOwn)
  else if (node.type === 'map') {
    const isOwn = mayBeOwn(stringAt(node, ['sourceRef', 'name']))
    for (const [key, { value }] of node.fields) {
      if (key !== 'path' || value.type !== 'scalar') yield* pathsIn(value, mayBeOwn)
      else if (typeof value.value === 'string' && isOwn) yield value.value
    }
  } else if (typeof node.value === 'string' && node.value.includes('\n')) {
    for (const document of node.value.split(/^---/m)) {
      if (!mayBeOwn(SOURCE_NAME.exec(document)?.[1])) continue
      for (const [, text = ''] of document.matchAll(PATH)) yield text.trim()
    }
  }
}

/** With the Kustomizations that stand in what these read, and so are not visible either. */
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
