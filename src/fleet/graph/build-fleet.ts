import { artifactPath } from '../../flux/artifact.ts'
import { ROOT_NAME } from '../../kube/flux-kinds.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { type FoundClusters, findClusters, isLayoutPath } from '../bootstrap/find-clusters.ts'
import { folderOf, isWithin } from '../bootstrap/sync-roots.ts'
import { readFleetFile, tenantFiles, withAlias, withOwnAddress } from '../config/fleet-file.ts'
import {
  ASKED,
  type Cluster,
  type ClusterRoot,
  type Fleet,
  type FleetNode,
  type FleetRepository,
  type NodeSource,
  type NotSeen,
  type Tenant,
  WANTED,
} from '../model/fleet.ts'
import { type Aliases, addressIn, type FleetConfig } from '../model/fleet-config.ts'
import type { FleetInput } from '../model/input.ts'
import { sameDeep } from '../model/same-node.ts'
import { type AskedRepository, declarationKey, factKey } from '../model/source-access.ts'
import { refKey, type WantedSource } from '../model/source-ref.ts'
import { notReachedOf } from '../rendering/not-reached.ts'
import { RenderMemory } from '../rendering/render-memory.ts'
import { assumedContent, folderOfArtifact, refutedArtifacts } from '../sources/artifact-content.ts'
import { openSources } from '../sources/resolve-source.ts'
import type { Sources } from '../sources/sources.ts'
import { membersOf } from '../tenancy/delegated.ts'
import { generatingObjects } from './open-resource-sets.ts'
import { type Walked, type WalkInput, walkCluster } from './walk-cluster.ts'

/**
 * What every cluster of a fleet would get: a pure function of its input. Where clusters start is what findClusters
 * finds. Problems are errors of the nodes that they concern; nothing is thrown for what a repository holds.
 * `memory` spares work, and never changes the answer.
 */
export function buildFleet(input: FleetInput, memory = new RenderMemory()): Fleet {
  const refuted = new Map<string, string>()
  // each round gives up an assumption about an artifact for good, so this ends
  for (;;) {
    const fleet = build(input, memory, refuted)
    const more = refutedArtifacts(fleet)
    if (more.size === 0) return fleet
    for (const [key, why] of more) refuted.set(key, why)
  }
}

function build(input: FleetInput, memory: RenderMemory, refuted: ReadonlyMap<string, string>): Fleet {
  const repository = normaliseUrl(input.fleet.url)
  const named = (config: FleetConfig) => withAlias(config, input.fleet.alias, repository)
  const proposed = named(readFleetFile(input.fleet.tree, repository))
  const file = withOwnAddress(named(fleetFile(input, proposed, repository)), repository)
  const sources = openSources(input, file, refuted)
  const found = rootsOf(input, file, proposed)
  const walk = {
    sources,
    file: found.error ? { error: found.error, ...file } : file,
    memory,
    access: input.access,
    retain: input.retain,
    values: input.values,
  }
  const one = found.roots.filter(({ name }) => name === input.only)
  const walked = walkClusters(one.length > 0 ? one : found.roots, walk)
  const clusters = walked.flatMap(one => [one.cluster, ...one.remotes])
  const repositories = repositoriesOf(input, sources.own, file.aliases)
  const { config, nodes } = tenantFiles(
    file,
    walked.flatMap(one => one.nodes),
    repositories,
  )
  return {
    clusters,
    tenants: tenantsOf(clusters, nodes),
    nodes,
    wanted: wantedOf(nodes),
    notSeen: [
      ...notSeenOf(nodes),
      ...assumedContent(nodes),
      ...walked.flatMap(one => one.notSeen),
      ...generatingObjects(nodes),
    ],
    notReached: notReachedOf(repositories[0]!, nodes),
    repositories,
    config,
    proposed,
    disabledRules: input.disabledRules ?? [],
    ...(input.access ? accessOf(walked) : {}),
  }
}

/** Where the clusters of an input start. `proposed`: what the fleet's file says once the change is merged. */
export function rootsOf(
  { fleet, config }: Pick<FleetInput, 'fleet' | 'config'>,
  file: Pick<FleetConfig, 'aliases' | 'clusters' | 'artifacts'>,
  proposed?: FleetConfig,
): FoundClusters {
  const url = normaliseUrl(fleet.url)
  const declaredBy = ({ aliases, clusters }: Pick<FleetConfig, 'aliases' | 'clusters'>) => ({
    aliases,
    declared: [...(fleet.clusters ?? []), ...clusters],
  })
  const own = { url: addressIn(file.aliases, url), branch: fleet.branch }
  const facts = { ...own, tree: fleet.tree, declared: file.artifacts, refuted: new Map() }
  const folderOf = (source: KubeObject) => folderOfArtifact(source, facts)
  const search = { url, tree: fleet.tree, folderOf, ...declaredBy(file) }
  if (!config) return findClusters(search)
  const later = proposed && withOwnAddress(proposed, url)
  const isEdited = later && !(sameDeep(later.aliases, file.aliases) && sameDeep(later.clusters, file.clusters))
  return findClusters({ ...search, base: config, ...(isEdited ? { merged: declaredBy(later) } : {}) })
}

/** What all clusters declare about their sources, and what has to be known before that can be decided. */
function accessOf(walked: readonly Walked[]): Pick<Fleet, 'asked' | 'access'> {
  const all = walked.flatMap(({ access }) => access ?? [])
  const asked = new Map<string, AskedRepository>()
  for (const one of walked.flatMap(cluster => cluster.asked)) {
    const key = factKey(one)
    asked.set(key, { ...one, people: one.people || asked.get(key)?.people === true })
  }
  const access = {
    platform: new Set(all.flatMap(one => one.platform)),
    declarations: new Map(
      all.flatMap(one => one.declarations.map(each => [declarationKey(each.cluster, each.id), each])),
    ),
    follows: new Map(all.flatMap(one => one.follows)),
    charts: new Set(all.flatMap(one => one.charts)),
  }
  return { asked: [...asked].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one), access }
}

function repositoriesOf({ fleet, sources }: FleetInput, own: Sources['own'], aliases: Aliases): FleetRepository[] {
  const others = sources.map(({ url, ref, tree }) => ({ url: addressIn(aliases, url), ref, tree }))
  return [{ url: own.url, ref: own.ref, tree: fleet.tree }, ...others]
}

/** What the change itself writes into the file has no effect yet, but it must be readable. */
function fleetFile({ config }: FleetInput, proposed: FleetConfig, repository: string): FleetConfig {
  if (!config) return proposed
  const file = readFleetFile(config, repository)
  return proposed.error ? { ...file, error: proposed.error } : file
}

function tenantsOf(clusters: readonly Cluster[], nodes: readonly FleetNode[]): Tenant[] {
  const tenants = new Map<string, { clusters: Set<string>; namespaces: Set<string>; identities: Set<string> }>()
  const of = (name: string, cluster: string) => {
    const tenant = tenants.get(name) ?? { clusters: new Set(), namespaces: new Set(), identities: new Set() }
    tenants.set(name, tenant)
    tenant.clusters.add(cluster)
    return tenant
  }
  for (const { name: cluster, owners = new Map(), capsuleOwners = new Map() } of clusters) {
    for (const [namespace, name] of owners) of(name, cluster).namespaces.add(namespace)
    for (const [name, users] of capsuleOwners) for (const user of users) of(name, cluster).identities.add(user)
  }
  for (const { tenant, cluster, identity } of nodes) {
    if (tenant === undefined || !identity.impersonated) continue
    for (const member of membersOf(tenant)) of(member, cluster).identities.add(identity.user)
  }
  return [...tenants]
    .map(([name, tenant]) => ({
      name,
      clusters: [...tenant.clusters].sort(),
      namespaces: [...tenant.namespaces].sort(),
      identities: [...tenant.identities].sort(),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

const sourcesOf = (nodes: readonly FleetNode[]) => nodes.flatMap(({ source, charts = [] }) => [source, ...charts])

function wantedOf(nodes: readonly FleetNode[]): WantedSource[] {
  const wanted = new Map<string, WantedSource>()
  for (const source of [...sourcesOf(nodes), ...nodes.flatMap(({ remotes = [] }) => remotes)]) {
    if (source.opaque === WANTED)
      wanted.set(`${source.url} ${refKey(source.ref)}`, { url: source.url, ref: source.ref })
  }
  return [...wanted].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, source]) => source)
}

function notSeenOf(nodes: readonly FleetNode[]): NotSeen[] {
  const seen = new Map<string, NotSeen>()
  for (const source of sourcesOf(nodes)) {
    if (source.opaque === undefined || source.opaque === ASKED) continue
    seen.set(`${source.id} ${source.url}`, { source: source.id, url: source.url, reason: source.opaque })
  }
  return [...seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, source]) => source)
}

/**
 * Walks the clusters that start from these roots, in their order. Not a root: a folder that an earlier
 * cluster lets a tenant write (the tenant would be its platform); one that another cluster leads to; a folder of the layout
 * without a sync that another cluster applies, or that only holds the folders of clusters.
 */
function walkClusters(roots: readonly ClusterRoot[], input: WalkInput): Walked[] {
  const walked: { readonly root: ClusterRoot; result: Walked }[] = []
  for (const root of roots) {
    const isGiven = root.how === 'declared' || isLayoutPath(root.path)
    const letting = isGiven
      ? undefined
      : walked.find(one => tenantFolders(one.result.nodes, input).some(folder => isIn(root, folder)))
    if (letting) {
      letting.result = withTenantStart(letting.result, root)
      continue
    }
    if (walked.some(({ result }) => leadsTo(root, result.nodes))) continue
    walked.push({ root, result: walkCluster(root, input) })
  }
  const stated = walked.filter(({ root }) => root.how !== 'layout')
  const applied = stated.flatMap(({ result }) =>
    foldersOf(result.nodes, input, node => node.tenant === undefined && node.parent !== undefined),
  )
  const isOwn = ({ root: { how, path, bare } }: (typeof walked)[number]) => {
    if (how !== 'layout') return true
    if (applied.includes(path)) return false
    return !bare || ![...applied, ...stated.map(({ root }) => root.path)].some(below => isWithin(below, path))
  }
  return walked
    .filter(isOwn)
    .map(({ result }) => result)
    .sort((a, b) => (a.cluster.name < b.cluster.name ? -1 : 1))
}

/** A cluster, with what a tenant of it may write that would start another one. */
function withTenantStart(result: Walked, { path, origin }: ClusterRoot): Walked {
  const { cluster } = result
  const tenantStarts = [...(cluster.tenantStarts ?? []), { file: origin?.file ?? path, text: path }]
  return { ...result, cluster: { ...cluster, tenantStarts } }
}

/** Whether another cluster applies its Kustomization: then no cluster starts from it. */
function leadsTo({ kustomization }: ClusterRoot, nodes: readonly FleetNode[]): boolean {
  if (!kustomization) return false
  const { namespace, name } = idOf(kustomization)
  if (name === ROOT_NAME) return false
  return nodes.some(node => node.parent !== undefined && node.namespace === namespace && node.name === name)
}

const isIn = ({ path, origin }: ClusterRoot, folder: string): boolean =>
  isWithin(path, folder) || (origin !== undefined && isWithin(folderOf(origin.file), folder))

/** The folders that the platform lets tenants write; a tenant's own Kustomizations do not show who writes there. */
function tenantFolders(nodes: readonly FleetNode[], input: WalkInput): string[] {
  const platform = new Set(nodes.flatMap(({ key, tenant }) => (tenant === undefined ? [key] : [])))
  const isGiven = ({ tenant, parent }: FleetNode) =>
    tenant !== undefined && parent !== undefined && platform.has(parent)
  return foldersOf(nodes, input, isGiven).filter(folder => folder !== '')
}

/** The folders of the fleet's own repository that nodes apply. */
function foldersOf(
  nodes: readonly FleetNode[],
  { sources: { own } }: WalkInput,
  which: (node: FleetNode) => boolean,
): string[] {
  const isOwn = ({ url, ref, opaque }: NodeSource) =>
    opaque === undefined && url === own.url && refKey(ref) === refKey(own.ref)
  return nodes.filter(node => which(node) && isOwn(node.source)).map(node => artifactPath(node.path))
}
