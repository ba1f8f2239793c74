import type { KubeObject } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/url.ts'
import { folderOfArtifact } from '../artifacts/artifact-content.ts'
import { assumedContent, refutedArtifacts } from '../artifacts/assumed-content.ts'
import { type FoundClusters, findClusters } from '../bootstrap/find-clusters.ts'
import { withAlias, withOwnAddress } from '../config/own-address.ts'
import { readFleetFile } from '../config/read-fleet-file.ts'
import { tenantFiles } from '../config/tenant-files.ts'
import { type Aliases, addressIn } from '../model/address-in.ts'
import type { Cluster, Fleet, FleetNode, FleetRepository, NotSeen, Tenant } from '../model/fleet.ts'
import type { FleetConfig } from '../model/fleet-config.ts'
import type { FleetInput } from '../model/input.ts'
import { type AskedRepository, factKey } from '../model/read-access.ts'
import { refKey } from '../model/ref.ts'
import { sameDeep } from '../model/same-deep.ts'
import { declarationKey } from '../model/source-access.ts'
import type { WantedSource } from '../model/source-ref.ts'
import { ASKED, WANTED } from '../model/unread.ts'
import { notReachedOf } from '../reach/not-reached.ts'
import { RenderMemory } from '../rendering/render-memory.ts'
import { openSources } from '../sources/resolve-source.ts'
import type { Sources } from '../sources/sources.ts'
import { membersOf } from '../tenancy/delegated.ts'
import { generatingObjects } from './generating-objects.ts'
import type { Walked } from './walk-cluster.ts'
import { walkClusters } from './walk-clusters.ts'

/**
 * What every cluster of a fleet would get: a pure function of its input. Where clusters start is what findClusters
 * finds. Problems are errors of the nodes that they concern; nothing is thrown for what a repository holds.
 * `memory` spares work, and never changes the answer.
 */
export function buildFleet(input: FleetInput, memory = new RenderMemory()): Fleet {
  const refuted = new Map<string, string>()
  // what an artifact was taken for is given up for good: this ends
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
