import { BailiwickError } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { artifactPath } from '../../flux/artifact.ts'
import { isKustomization, isKustomizationKind } from '../../flux/references.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import { glance } from '../../kube/glance.ts'
import { at, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { BuildBudget } from '../../kustomize/build-budget.ts'
import { type FleetNode, type FleetRepository, type NotReached, nodeKey } from '../model/fleet.ts'
import { componentsOf, recordReads, touchReachable } from './trees.ts'

/**
 * The Flux Kustomizations that stand in the fleet's own repository and become no node of any cluster, with why. A node is
 * known by where its Kustomization was written, because overlays and variables change names.
 */
export function notReachedOf(repository: FleetRepository, nodes: readonly FleetNode[]): readonly NotReached[] {
  const { url, tree } = repository
  const { all, left } = standingKustomizations(tree)
  const reached = new Set(nodes.map(node => placeOf(node.kustomization.root.origin)))
  const roots = new Set(nodes.flatMap(node => (node.parent === undefined ? [rootOf(node)] : [])))
  // an error of a node names the file
  const refused = new Set(
    nodes.flatMap(({ error, holes = [] }) => [error, ...holes.map(one => one.error)]).map(one => one?.origin?.file),
  )
  const missing = all.filter(one => {
    if (one.unreadable !== undefined && refused.has(one.file)) return false
    const isReached = reached.has(placeOf({ ...one, repository: url }))
    return !isReached && !roots.has(`${one.namespace}/${one.name} ${artifactPath(one.path)}`)
  })
  const whole = left === 0 ? [] : [unsearched(url, left)]
  if (missing.length === 0) return whole
  const rendered = renderedBy(nodes)
  const why = whyNotReached(repository, nodes)
  const found = missing.map(one => {
    const origin = { repository: url, file: one.file, line: one.line, column: one.column }
    return { id: displayName(one), origin, reason: why(one, rendered.get(placeOf(origin)) ?? []) }
  })
  return [...found, ...whole]
}

function renderedBy(nodes: readonly FleetNode[]): ReadonlyMap<string, readonly RenderedKustomization[]> {
  const all = nodes.flatMap(node => kustomizationsIn(node.objects).map(object => ({ node, object })))
  return Map.groupBy(all, ({ object }) => placeOf(object.root.origin))
}

const kustomizationsIn = oncePer((objects: readonly KubeObject[]): readonly KubeObject[] =>
  objects.filter(isKustomization),
)

const placeOf = ({ repository, file, line }: Pick<Origin, 'repository' | 'file' | 'line'>) =>
  `${repository}\0${file}\0${line}`

/** The Kustomization that bootstrap makes is the root of its cluster also where nothing of the cluster renders it. */
const rootOf = ({ namespace, name, path }: FleetNode) => `${namespace}/${name} ${artifactPath(path)}`

function unsearched(repository: string, left: number): NotReached {
  const reason = `${left} more YAML files were not searched for Kustomizations, because the repository is too large`
  return { id: '', origin: { repository, file: '', line: 1, column: 1 }, reason }
}

/** A Kustomization that a node renders. */
interface RenderedKustomization {
  readonly node: FleetNode
  readonly object: KubeObject
}

/** Why no cluster reaches a Kustomization; `rendered`: the nodes that render it without one becoming of it. */
type WhyNotReached = (standing: Standing, rendered: readonly RenderedKustomization[]) => string

/** Answers for the own repository of a fleet; what is looked up is looked up once. */
function whyNotReached({ url, tree }: FleetRepository, nodes: readonly FleetNode[]): WhyNotReached {
  const partial = lazy(() => {
    const budget = new BuildBudget()
    return nodes.filter(node => isPartial(node, url)).map(node => withFiles(tree, node, budget))
  })
  return (standing, rendered) => {
    const { file } = standing
    if (rendered[0]) return whyNotFollowed(rendered[0], nodes)
    if (standing.unreadable !== undefined) return `the file cannot be read: ${standing.unreadable}`
    const above = partial().find(({ reads }) => reads(file))
    if (above) return `Kustomization ${above.key}, which leads there, ${above.why}`
    return 'no cluster builds its file'
  }
}

/** Whether a node would render more of this repository than what is known of it. */
function isPartial({ source, error, holes = [] }: FleetNode, url: string): boolean {
  const isHere = source.url === url || source.unmatched?.why === 'other-address'
  return isHere && (error !== undefined || holes.length > 0 || source.opaque !== undefined)
}

/** A Kustomization that is rendered, and of which the graph made nothing. */
function whyNotFollowed({ node, object }: RenderedKustomization, nodes: readonly FleetNode[]): string {
  if (node.hub !== undefined) return `Kustomization ${node.key} applies it to ${node.cluster}, which has no known Flux`
  const key = nodeKey(node.cluster, idOf(object))
  if (nodes.some(one => one.key === key))
    return `Kustomization ${node.key} renders it, and so does another one with the same name`
  if (node.error) return `Kustomization ${node.key} renders it and has an error (${node.error.code})`
  return `Kustomization ${node.key} renders it in a namespace that is not its own, so Bailiwick does not evaluate it`
}

interface Broken {
  readonly key: string
  readonly why: string
  readonly reads: (file: string) => boolean
}

function withFiles(tree: Tree, node: FleetNode, budget: BuildBudget): Broken {
  const { key, error, source } = node
  const why = error ? `has an error (${error.code})` : (opaqueText(source) ?? 'is only partly evaluated')
  return { key, why, reads: reachableBy(tree, node, budget) }
}

/** Whether a build of the path of a node may read a file of `tree`; a directory without a kustomization file is read as a whole. */
export function reachableBy(
  tree: Tree,
  { path, kustomization }: Pick<FleetNode, 'path'> & Partial<Pick<FleetNode, 'kustomization'>>,
  budget = new BuildBudget(),
): (file: string) => boolean {
  const recorded = recordReads(tree)
  const directory = artifactPath(path)
  try {
    touchReachable(recorded.tree, directory, kustomization ? componentsOf(kustomization) : [], budget)
  } catch (caught) {
    if (!(caught instanceof BailiwickError)) throw caught
  }
  const paths = new Set(recorded.paths() ?? [directory])
  return file => [...prefixesOf(file)].some(prefix => paths.has(prefix)) || (paths.has('') && !file.includes('/'))
}

const opaqueText = ({ opaque, url }: FleetNode['source']) =>
  opaque === undefined ? undefined : `follows ${url}, which is not visible: ${opaque}`

/** A file, and the folders above it without the root. */
function* prefixesOf(file: string): Generator<string> {
  for (let path = file; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('/')))) yield path
}

function lazy<T>(work: () => T): () => T {
  let done: { readonly value: T } | undefined
  return () => {
    done ??= { value: work() }
    return done.value
  }
}

/** A Flux Kustomization as it stands in a file, whether or not a cluster builds it. */
interface Standing {
  readonly file: string
  readonly line: number
  readonly column: number
  /** As written: '' where an overlay gives it, or where the file cannot be read. */
  readonly namespace: string
  readonly name: string
  readonly path: string
  /** Why the file cannot be read. */
  readonly unreadable?: string
}

/** `<namespace>/<name>`, or the name where an overlay gives the namespace. */
const displayName = ({ namespace, name }: Standing): string => (namespace === '' ? name : `${namespace}/${name}`)

/** The Flux Kustomizations of a repository; `left`: files beyond the limits, which were not searched. */
interface StandingKustomizations {
  readonly all: readonly Standing[]
  readonly left: number
}

/** Of those that mention the kind's group. */
const MAX_FILES = 50_000
const MAX_BYTES = 256 * 1024 * 1024

/** Finds every Flux Kustomization that stands in a YAML file of the tree, in the order of the files. */
export const standingKustomizations = oncePer((tree: Tree): StandingKustomizations => {
  const all: Standing[] = []
  const room = { files: MAX_FILES, bytes: MAX_BYTES }
  let left = 0
  for (const entry of yamlFiles(tree)) {
    const look = glance(tree, entry)
    if (look && !look.kustomization) continue
    room.files--
    room.bytes -= look?.size ?? 0
    if (!look || room.files < 0 || room.bytes < 0) left++
    else for (const one of inFile(tree, entry)) all.push({ ...one, file: entry.path })
  }
  return { all, left }
})

function* yamlFiles(tree: Tree): Generator<TreeEntry> {
  const queue = ['']
  for (let directory = queue.pop(); directory !== undefined; directory = queue.pop()) {
    const entries = tree.list(directory)
    for (const entry of entries) if (entry.type === 'file' && /\.ya?ml$/.test(entry.name)) yield entry
    for (const entry of entries.toReversed()) if (entry.type === 'directory') queue.push(entry.path)
  }
}

type InFile = readonly Omit<Standing, 'file'>[]

/** By git id: most files are those of the commit before. */
const knownStanding = new Map<string, InFile>()
const NONE: InFile = []

function inFile(tree: Tree, { path, id }: TreeEntry): InFile {
  const found = knownStanding.get(id) ?? readFile(path, Buffer.from(tree.read(path)))
  if (knownStanding.size >= MAX_FILES) knownStanding.clear()
  knownStanding.set(id, found)
  return found
}

function readFile(path: string, bytes: Buffer): InFile {
  try {
    return parseDocuments({ repository: '', path }, bytes).flatMap(root => {
      const text = (...field: string[]) => stringAt(root, field) ?? ''
      const group = text('apiVersion').split('/')[0] ?? ''
      if (!isKustomizationKind(group, text('kind')) || isPatch(root)) return []
      const { line, column } = root.origin
      const [namespace, name, below] = [text('metadata', 'namespace'), text('metadata', 'name'), text('spec', 'path')]
      return [{ line, column, namespace, name, path: below }]
    })
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    // a text that is not a manifest may mention the group without an object of it
    if (!/^[ -]*kind: *["']?Kustomization\b/m.test(bytes.toString('latin1'))) return NONE
    return [{ line: error.origin?.line ?? 1, column: 1, namespace: '', name: '', path: '', unreadable: error.message }]
  }
}

/** The API server asks for both fields: what has neither is there to be merged into something else. */
const isPatch = (root: Parameters<typeof at>[0]) =>
  at(root, ['spec', 'interval']) === undefined && at(root, ['spec', 'sourceRef']) === undefined
