import { unlessRefused } from '../../base/errors.ts'
import { work } from '../../base/work.ts'
import { packTree } from '../../flux/artifact.ts'
import { isOfKind, isRoot } from '../../flux/references.ts'
import { PLATFORM_SCALE, RenderBudget } from '../../flux/render-kustomization.ts'
import { PackBudget } from '../../flux/source-ignore.ts'
import type { Tree } from '../../git/tree.ts'
import { embeddedIn } from '../../kube/capabilities/embedded-objects.ts'
import {
  ACCOUNT_FIELD,
  EXTENSIONS_GROUP,
  HELM_GROUP,
  HELM_RELEASE,
  isDeployable,
  KUSTOMIZE_GROUP,
  OPERATOR_GROUP,
  SOURCE_GROUP,
} from '../../kube/flux-kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import type { FoundClusters } from '../bootstrap/find-clusters.ts'
import { type Fleet, type FleetNode, isIncomplete, lostOwners } from '../model/fleet.ts'
import { addressIn, FLEET_FILE } from '../model/fleet-config.ts'
import { type FleetInput, isUnknown, revisionKey, revisionOf, type SourceContent } from '../model/input.ts'
import { digestOfTexts, objectTexts, sameAccess, sameDeep, sameRetained } from '../model/same-node.ts'
import { refKey } from '../model/source-ref.ts'
import { notReachedOf } from '../rendering/not-reached.ts'
import { recordOf, renderAgain } from '../rendering/render-memory.ts'
import { changedPaths } from '../rendering/trees.ts'
import { chartSpecOf } from '../sources/charts.ts'
import { rootsOf } from './build-fleet.ts'
import { HOPS } from './cluster-root.ts'
import { needsOf } from './node-values.ts'
import { isSetNode } from './open-resource-sets.ts'
import { retainedObjects } from './walk-cluster.ts'

/**
 * The state of `input` where it differs from `before` only in what nodes render, and nothing of that is more than an
 * object for the graph: then these nodes are put in the place of the old ones. Undefined where that is not certain;
 * the caller then walks the whole fleet.
 */
export function replaceNodes(before: FleetState, input: FleetInput): FleetState | undefined {
  const changed = changedSources(before.input, input)
  if (!changed || !readsAlike(before, input) || !retainsAlike(before, input)) return undefined
  const mayMove = configOf(input) !== configOf(before.input) || changed.some(one => one.place === 0)
  if ((mayMove || !sameDeep(input.fleet.clusters, before.input.fleet.clusters)) && !sameRoots(before, input))
    return undefined
  if (changed.length === 0) return { ...before, input }
  const { nodes } = before.fleet
  if (nodes.some(isArtifact)) return undefined
  const replaced = new Map<number, FleetNode>()
  const rendered = new Map<string, readonly KubeObject[]>()
  for (const { source } of changed) {
    const id = `${addressIn(before.fleet.config.aliases, source.url)} ${refKey(source.ref)}`
    for (const key of before.shape.readers.get(id) ?? []) {
      const position = before.shape.positions.get(key)!
      const node = replaced.get(position) ?? nodes[position]!
      const current = { ...before, nodeAt: (index: number) => replaced.get(index) ?? nodes[index]! }
      const after = sourceId(node.source) === id ? replacement(current, node, source) : undefined
      if (!after) return undefined
      replaced.set(position, after)
      rendered.set(key, after.objects)
    }
    for (const key of before.shape.deployers.get(id) ?? []) {
      const position = before.shape.positions.get(key)!
      replaced.set(position, withCommit(replaced.get(position) ?? nodes[position]!, id, source.commit))
    }
  }
  const own = changed.find(one => one.place === 0)
  if (own && (!rootsStay(before, own) || nodes.some(isUndeclared))) return undefined
  const repositories = new Map(
    changed.map(({ place, source }) => [place, { ...before.fleet.repositories[place]!, tree: source.tree }]),
  )
  const after = withItems(nodes, replaced)
  const read = withItems(before.fleet.repositories, repositories)
  return {
    input,
    fleet: {
      ...before.fleet,
      nodes: after,
      repositories: read,
      notReached: own ? notReachedOf(read[0]!, after) : before.fleet.notReached,
    },
    rendered: before.rendered,
    since: rendered.size === 0 ? before.since : new Map([...before.since, ...rendered]),
    shape: before.shape,
    roots: before.roots,
  }
}

/**
 * Whether the same stays of what the fleet was before: where every node builds as a whole, and every former tenant is
 * one without it, nothing does.
 */
function retainsAlike({ input: was, fleet }: FleetState, { retain }: FleetInput): boolean {
  if (was.retain === retain) return true
  if (fleet.clusters.some(one => one.formerOwners)) return false
  const isOther = (node: FleetNode) =>
    isIncomplete(node) &&
    (node.parent === undefined ||
      isUnknown(node, retain) !== (node.unknown === true) ||
      !sameRetained(node, { retained: kept(node, retain) }))
  if (fleet.nodes.some(isOther)) return false
  return fleet.clusters.every(({ name, owners }) => {
    const before = retain?.isCompared ? retain.clusters.get(name) : undefined
    return lostOwners(before, { owners: owners ?? new Map(), givenTo: () => undefined }).size === 0
  })
}

/** Which folders there are decides what it holds, and which files what is pushed. */
const isArtifact = ({ source: { id, artifact, opaque } }: FleetNode) =>
  artifact !== undefined || (opaque !== undefined && id.startsWith('OCIRepository/'))

/** Which folders there are decides what its source stands for. */
const isUndeclared = ({ source }: FleetNode) => source.presumed || source.unmatched?.why === 'no-object'

const kept = (node: FleetNode, retain: FleetInput['retain']) =>
  notEmpty(retainedObjects(node, retain?.nodes.get(node.key)))

const notEmpty = <T>(list: readonly T[]) => (list.length === 0 ? undefined : list)

/** A node whose charts of one source are of another commit. */
function withCommit(node: FleetNode, id: string, commit: string): FleetNode {
  return { ...node, charts: (node.charts ?? []).map(one => (sourceId(one) === id ? { ...one, commit } : one)) }
}

/**
 * Whether the same is read for the same nodes, as long as the graph declares the same: what is compared with is the same,
 * where nothing is that what the graph itself declares.
 */
function readsAlike({ input: was, fleet }: FleetState, { access }: FleetInput): boolean {
  if (!was.access || !access) return was.access === access
  const [old, young] = [was.access.base ?? fleet.access, access.base ?? fleet.access]
  const isSame = was.access.withheld === access.withheld && sameDeep(was.access.facts, access.facts)
  return isSame && sameAccess(old, young)
}

/** A copy of a list in which few items are replaced, without visiting the rest. */
function withItems<T>(list: readonly T[], items: ReadonlyMap<number, T>): T[] {
  const copy = list.slice()
  for (const [index, item] of items) copy[index] = item
  return copy
}

/** A state, some of whose nodes were replaced already. */
interface CurrentState extends FleetState {
  nodeAt(position: number): FleetNode
}

interface Changed {
  readonly source: SourceContent
  readonly was: SourceContent
  /** Place among the repositories of the fleet; its own one is the first. */
  readonly place: number
}

/** The sources that have another tree or commit; undefined where the inputs differ in more than that. */
function changedSources(before: FleetInput, input: FleetInput): Changed[] | undefined {
  if (before.fleet.alias !== input.fleet.alias || before.values?.digest !== input.values?.digest) return undefined
  const [own, was] = [ownSource(input), ownSource(before)]
  if (own.url !== was.url || refKey(own.ref) !== refKey(was.ref) || fileOf(before) !== fileOf(input)) return undefined
  const changed: Changed[] = []
  if (own.tree !== was.tree || own.commit !== was.commit) {
    if (fleetFileId(own.tree) !== fleetFileId(was.tree)) return undefined
    changed.push({ source: own, was, place: 0 })
  }
  if (!sameDeep(before.disabledRules ?? [], input.disabledRules ?? [])) return undefined
  if (!sameDeep(before.opaque, input.opaque) || before.sources.length !== input.sources.length) return undefined
  for (let index = 0; index < input.sources.length; index++) {
    const [source, was] = [input.sources[index]!, before.sources[index]!]
    if (source === was) continue
    if (was.url !== source.url || (was.ref !== source.ref && refKey(was.ref) !== refKey(source.ref))) return undefined
    if (was.tree === source.tree && revisionKey(was) === revisionKey(source)) continue
    // a file of ours in it is about more than what it renders, and a fleet in it makes that file have no effect
    if (says(was.tree) !== says(source.tree)) return undefined
    changed.push({ source, was, place: index + 1 })
  }
  return changed
}

const ownSource = ({ fleet }: FleetInput): SourceContent => ({ ...fleet, ref: { branch: fleet.branch } })

/** Whether the same folders are what clusters start from. */
function sameRoots({ input: was, fleet, roots }: FleetState, input: FleetInput): boolean {
  roots.known ??= rootsOf(was, fleet.config, fleet.proposed)
  return sameDeep(roots.known, rootsOf(input, fleet.config, fleet.proposed))
}

/** Whether what the roots of all clusters render is certainly what it was. */
function rootsStay({ fleet, rendered }: FleetState, { source }: Changed): boolean {
  const hops = [...Array(HOPS).keys()]
  return fleet.clusters.every(({ name, hub }) => {
    if (hub !== undefined) return true
    const root = fleet.nodes.find(node => node.cluster === name && node.parent === undefined)
    // one that is not among its own objects was found out by looking at more than what was rendered
    if (!root?.objects.some(object => isRoot(object, root.kustomization))) return false
    const all = hops.flatMap(hop => {
      const objects = rendered.get(`${name} ${hop}`)
      return objects ? [objects] : []
    })
    return all.every(objects => {
      const record = recordOf(objects)
      if (!record || record.artifact.composed) return false
      const packed = packTree(source.tree, record.artifact.ignore, new PackBudget(PLATFORM_SCALE))
      return record.reads.holdsIn(packed, changedPaths(record.packed, packed))
    })
  })
}

/** What the fleet's own file is read from. */
const configOf = ({ config, fleet }: FleetInput): Tree => config ?? fleet.tree
const fileOf = (input: FleetInput): string => fleetFileId(configOf(input))

const fleetFileId = (tree: Tree): string => tree.entry(FLEET_FILE)?.id ?? ''

const says = (tree: Tree): string => `${tree.entry('.github')?.id ?? ''} ${tree.entry('clusters')?.type ?? ''}`

/** The node as it is with another tree of its source; undefined where it may be more than its objects that change. */
function replacement(before: CurrentState, node: FleetNode, content: SourceContent): FleetNode | undefined {
  const { tenant, source, error, objects } = node
  const record = recordOf(objects)
  const { commit: _c, tag: _t, originRevision: _o, ...followed } = source
  const now = { ...followed, ...revisionOf(content) }
  if (error || source.opaque !== undefined || source.includes || node.digest === '' || node.sealedFiles)
    return undefined
  // of roots it is certain already
  if (node.parent === undefined) return { ...node, source: now }
  // another ResourceSet is another graph: staysPut of who renders it
  if (isSetNode(node)) return { ...node, source: now }
  if (!record || record.artifact.repository !== source.url || record.artifact.composed) return undefined
  const budget = tenant === undefined ? new RenderBudget(PLATFORM_SCALE) : budgetBeside(before, node)
  if (!budget) return undefined
  return unlessRefused(undefined, () => {
    const artifact = { ...record.artifact, tree: content.tree }
    const findSource = (kind: string, name: string) => record.values.get(`${kind}/${name}`)
    const facts = { findSource, strict: record.strict, budget }
    const again = renderAgain(objects, artifact, node.kustomization, facts)
    if (!again.spared) work.rendered++
    if (!staysPut(before, node, again.objects)) return undefined
    const digest = again.objects === objects ? node.digest : digestOfTexts(objectTexts(again.objects))
    return { ...node, source: now, objects: again.objects, digest }
  })
}

/** What the other nodes of the tenant leave over; undefined where one of them may not have been rendered as a whole. */
function budgetBeside({ shape, nodeAt }: CurrentState, node: FleetNode): RenderBudget | undefined {
  const budget = new RenderBudget()
  for (const key of shape.tenants.get(`${node.cluster}\0${node.tenant}`) ?? []) {
    const other = nodeAt(shape.positions.get(key)!)
    if (other.key === node.key) continue
    // what composing a source took is not known here
    if (other.error || other.source.includes) return undefined
    if (other.source.opaque !== undefined) continue
    const record = recordOf(other.objects)
    if (!record || record.artifact.composed) return undefined
    packTree(record.artifact.tree, record.artifact.ignore, budget.pack)
    if (!budget.takeAll(record.cost)) return undefined
  }
  return budget
}

/** Groups whose every object counts. */
const NOTED = new Set([KUSTOMIZE_GROUP, 'capsule.clastix.io', EXTENSIONS_GROUP, OPERATOR_GROUP])

/** Whether all that the graph takes note of in what a node renders is as it was. */
function staysPut({ shape }: FleetState, node: FleetNode, after: readonly KubeObject[]): boolean {
  const { cluster, tenant, objects } = node
  if (after === objects) return true
  const isGranting = tenant === undefined && shape.delegating.has(cluster)
  const grants = (object: KubeObject) => (isGranting && groupOf(idOf(object).apiVersion) === RBAC_GROUP ? [object] : [])
  const made = (object: KubeObject) => embeddedIn(object).objects.map(one => one.object)
  const noted = (all: readonly KubeObject[]) =>
    all.flatMap(object => [
      ...grants(object),
      ...[noteOf(object, cluster, shape.needs)].filter(note => note !== undefined),
      ...made(object)
        .filter(isRelease)
        .map(one => noteOf(one, cluster, shape.needs)),
    ])
  const [old, young] = [noted(objects), noted(after)]
  return old.length === young.length && old.every((note, index) => note === young[index])
}

const isRelease = (object: KubeObject) => isOfKind(object, HELM_RELEASE)

/** What the graph takes note of: the object itself, or what it is called. */
function noteOf(object: KubeObject, cluster: string, needs: ReadonlySet<string>): KubeObject | string | undefined {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const group = groupOf(apiVersion)
  if (group === SOURCE_GROUP && isDeployable(kind)) return object
  if (group === SOURCE_GROUP || group === HELM_GROUP) {
    const account = stringAt(object.root, ACCOUNT_FIELD)
    return `${kind}/${namespace}/${name} ${account} ${JSON.stringify(chartSpecOf(object)?.source)}`
  }
  if (group === '') {
    if (kind === 'Namespace') return object
    if (kind === 'ConfigMap' || kind === 'Secret') {
      return needs.has(`${cluster}\0${kind}/${namespace}/${name}`) ? object : undefined
    }
    return undefined
  }
  return NOTED.has(group) ? object : undefined
}

/** A fleet as it was built from an input, with what the next one can be built from. */
export interface FleetState {
  readonly input: FleetInput
  readonly fleet: Fleet
  /** What was rendered, by node; of a root each step towards it. */
  readonly rendered: ReadonlyMap<string, readonly KubeObject[]>
  /** What was rendered instead since the fleet was walked: few things beside a map that is too large to copy. */
  readonly since: ReadonlyMap<string, readonly KubeObject[]>
  readonly shape: FleetShape
  /** Where the clusters of the input start, once that was asked; states that follow from each other start at the same. */
  readonly roots: { known?: FoundClusters }
}

/** What stays the same as long as only what nodes render changes. */
interface FleetShape {
  /** Places of nodes in the fleet. */
  readonly positions: ReadonlyMap<string, number>
  /** Nodes that follow a source, or include it. */
  readonly readers: ReadonlyMap<string, readonly FleetNode['key'][]>
  /** Nodes whose releases deploy charts of a source. */
  readonly deployers: ReadonlyMap<string, readonly FleetNode['key'][]>
  /** Nodes of a tenant on a cluster, who share a budget. */
  readonly tenants: ReadonlyMap<string, readonly FleetNode['key'][]>
  /** What any Kustomization of a cluster substitutes from. */
  readonly needs: ReadonlySet<string>
  /** Clusters on which RBAC decides for which tenant a node acts. */
  readonly delegating: ReadonlySet<string>
}

/** The shape of a fleet. */
export function shapeOf({ nodes, clusters }: Fleet): FleetShape {
  const readers = new Map<string, string[]>()
  const deployers = new Map<string, string[]>()
  const tenants = new Map<string, string[]>()
  const needs = new Set<string>()
  for (const { key, cluster, hub, tenant, source, charts = [], kustomization } of nodes) {
    for (const one of [source, ...(source.includes ?? [])]) add(readers, sourceId(one), key)
    for (const one of charts) add(deployers, sourceId(one), key)
    if (tenant !== undefined) add(tenants, `${cluster}\0${tenant}`, key)
    for (const { id } of needsOf(kustomization)) needs.add(`${hub ?? cluster}\0${id}`)
  }
  const positions = new Map(nodes.map((node, index) => [node.key, index]))
  const delegating = new Set(clusters.flatMap(({ name, delegates }) => (delegates ? [name] : [])))
  return { positions, readers, deployers, tenants, needs, delegating }
}

/** What a source follows, as text; `url` is normalised. */
const sourceId = ({ url, ref }: Pick<FleetNode['source'], 'url' | 'ref'>): string => `${url} ${refKey(ref)}`

function add(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
