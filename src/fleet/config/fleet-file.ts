import { BailiwickError } from '../../base/errors.ts'
import type { Tree } from '../../git/tree.ts'
import type { Node } from '../../kube/node.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import type { FleetNode, FleetRepository } from '../model/fleet.ts'
import {
  type Aliases,
  addressIn,
  type ConfiguredSeverity,
  DEFAULT_CONFIG,
  FLEET_FILE,
  type FleetConfig,
  type NamedRule,
  type TenantConfig,
} from '../model/fleet-config.ts'
import { type GitRef, refKey } from '../model/source-ref.ts'
import { fleetShape, secondsOf, tenantShape } from './fleet-shape.ts'
import { wrong } from './shape.ts'

/** Reads the fleet's file; a fleet without one says nothing. What is wrong with it is its `error`, never thrown. */
export function readFleetFile(tree: Tree, repository: string): FleetConfig {
  return reading(() => fileRoot(tree, repository))
}

/** The same for the text that the file has or is to have. */
export function readFleetText(text: string): FleetConfig {
  const file = { repository: '', path: FLEET_FILE }
  return reading(() => onlyDocument(parseDocuments(file, new TextEncoder().encode(text))))
}

/** The one document of the file; undefined where the file is absent or empty. Throws where it is not a regular file. */
function fileRoot(tree: Tree, repository: string): Node | undefined {
  const start = { repository, file: FLEET_FILE, line: 1, column: 1 }
  const other = FLEET_FILE.replace(/yaml$/, 'yml')
  if (tree.entry(other)) throw wrong({ ...start, file: other }, `the file ${other} has no effect`, FLEET_FILE)
  const entry = tree.entry(FLEET_FILE)
  if (entry === undefined) return undefined
  if (entry.type !== 'file') throw wrong(start, 'it is not a regular file', 'a file')
  return onlyDocument(parseDocuments({ repository, path: FLEET_FILE }, tree.read(FLEET_FILE)))
}

function reading(open: () => Node | undefined): FleetConfig {
  try {
    const root = open()
    return root ? configOf(fleetShape.read(root, '')) : DEFAULT_CONFIG
  } catch (error) {
    if (error instanceof BailiwickError) return { ...DEFAULT_CONFIG, error }
    throw error
  }
}

function onlyDocument([root, second]: readonly Node[]): Node | undefined {
  if (second) throw wrong(second.origin, 'the file has more than one document', 'one document')
  return root
}

type FleetFile = ReturnType<typeof fleetShape.read>

function configOf(file: FleetFile): FleetConfig {
  const waivers = (file.waivers ?? []).map(({ object, violations = [], ...rest }) => ({
    ...rest,
    violations: violations.map(({ fingerprint, severity, field }) => ({ fingerprint, severity, field })),
    kind: object.kind,
    namespace: object.namespace ?? '',
    name: object.name,
  }))
  const severities = [...(file.severities ?? [])]
  const namedRules: NamedRule[] = [
    ...severities.map(([id, { origin }]) => ({ id, key: `severities.${id}`, origin })),
    ...waivers.map(({ rule, origin }, index) => ({ id: rule, key: `waivers[${index}].rule`, origin })),
  ]
  return {
    profile: file.profile ?? DEFAULT_CONFIG.profile,
    profileDeclared: file.profile !== undefined,
    enforcement: file.enforcement ?? DEFAULT_CONFIG.enforcement,
    allowedSources: file.allowedSources,
    forbidUndeclaredValues: file.undeclaredValues === 'forbid',
    forbidOpaqueSources: file.opaqueSources === 'forbid',
    unrenderedCharts: file.unrenderedCharts ?? DEFAULT_CONFIG.unrenderedCharts,
    tenantSources: file.tenantSources ?? DEFAULT_CONFIG.tenantSources,
    approvedSources: (file.approvedSources ?? []).map(one => ({ ...one, ref: plainRef(one.ref) })),
    gatedBranches: (file.gatedBranches ?? []).map(({ url, branch }) => ({ url: normaliseUrl(url), branch })),
    allowedKubeConfigs: file.allowedKubeConfigs ?? [],
    minimumInterval: file.minimumInterval ? secondsOf(file.minimumInterval) : DEFAULT_CONFIG.minimumInterval,
    severities: new Map(severities.map(([id, { value }]) => [id, value])),
    approvers: (file.approvers ?? []).map(who => who.replace(/^@/, '').toLowerCase()),
    forks: file.forks ?? DEFAULT_CONFIG.forks,
    unseenChanges: file.unseenChanges ?? DEFAULT_CONFIG.unseenChanges,
    waivers,
    substituteFrom: file.substituteFrom ?? [],
    accounts: (file.accounts ?? []).map(({ cluster, namespace, name }) => ({ cluster, namespace, name })),
    kinds: (file.kinds ?? []).map(({ group, kind, scope }) => ({ group, kind, scope })),
    kubernetes: (file.kubernetes ?? []).map(({ cluster, version }) => ({
      cluster,
      version: Number(version.slice('1.'.length)),
    })),
    aliases: aliasesOf(file),
    sources: (file.sources ?? []).map(one => ({ ...one, ref: plainRef(one.ref) })),
    artifacts: (file.artifacts ?? []).map(({ url, path = './', origin }) => ({
      address: url.slice('oci://'.length),
      path,
      origin,
    })),
    clusters: (file.clusters ?? []).map(({ source, name, path, origin }) => ({
      ...{ name, path, origin },
      ...(source ? { source: { url: source.url, ref: plainRef(source.ref) } } : {}),
    })),
    tenants: new Map((file.tenants ?? []).map(one => [one.name, tenantOf(one)])),
    namedRules,
  }
}

/** Throws where an address stands for two repositories, or for one that is called otherwise itself. */
function aliasesOf({ aliases = [] }: FleetFile): Aliases {
  const names = new Set(aliases.map(({ url }) => normaliseUrl(url)))
  const found = new Map<string, string>()
  for (const { url, addresses, origin } of aliases) {
    for (const address of addresses.map(normaliseUrl)) {
      const isTaken = names.has(address) || found.has(address)
      if (isTaken) throw wrong(origin, `the address ${address} is listed twice under aliases`, 'each address once')
      found.set(address, normaliseUrl(url))
    }
  }
  return found
}

type FileRef = NonNullable<FleetFile['sources']>[number]['ref']

/** The fields that are set. */
const plainRef = (ref: FileRef): GitRef =>
  Object.fromEntries(
    ['branch', 'tag', 'semver', 'name', 'commit'].flatMap(key => {
      const value = ref?.[key as keyof GitRef]
      return value === undefined ? [] : [[key, value]]
    }),
  )

function tenantOf(tenant: NonNullable<FleetFile['tenants']>[number]): TenantConfig {
  const { name, namespaces = [], clusters, allowedSources, enforcement, profile, repositories = [], origin } = tenant
  const platform = tenant.platform ?? false
  const ids = new Map(repositories.map(({ url, id }) => [normaliseUrl(url), id]))
  return {
    name,
    platform,
    namespaces,
    clusters,
    allowedSources,
    enforcement,
    profile,
    repositories: ids,
    origin,
    own: undefined,
  }
}

/** What the file in a tenant's own repository says. */
interface TenantFile {
  readonly restricted: boolean
  readonly blocks: boolean
  readonly allowedSources: readonly string[] | undefined
  readonly severities: ReadonlyMap<string, ConfiguredSeverity>
  readonly namedRules: readonly NamedRule[]
}

/** Reads it; undefined where there is none. What loosens something has no key in it, so it is an error like any unknown key. */
export function readTenantFile(tree: Tree, repository: string): TenantFile | BailiwickError | undefined {
  try {
    const root = fileRoot(tree, repository)
    if (!root) return undefined
    const { profile, enforcement, allowedSources, severities = new Map() } = tenantShape.read(root, '')
    const named = [...severities].map(([id, { value, origin }]) => ({
      id,
      key: `severities.${id}`,
      origin,
      severity: value,
    }))
    return {
      restricted: profile !== undefined,
      blocks: enforcement !== undefined,
      allowedSources,
      severities: new Map(named.map(({ id, severity }) => [id, severity])),
      namedRules: named,
    }
  } catch (error) {
    if (error instanceof BailiwickError) return error
    throw error
  }
}

/** What the files in the tenants' own repositories come to: a stricter config, and nodes of files that say too much. */
interface TenantFiles {
  readonly config: FleetConfig
  readonly nodes: readonly FleetNode[]
}

/**
 * Reads the file of every repository that tenants deploy from, but for those that are fleets themselves, whose file is
 * about that fleet. It holds for the tenants of the nodes that read it; one with an error is an error of those nodes.
 */
export function tenantFiles(
  config: FleetConfig,
  nodes: readonly FleetNode[],
  [own, ...others]: readonly FleetRepository[],
): TenantFiles {
  const tenants = new Map(config.tenants)
  const errors = new Map<string, BailiwickError>()
  const following = Map.groupBy(
    nodes.filter(node => node.tenant !== undefined),
    ({ source }) => `${source.url} ${refKey(source.ref)}`,
  )
  for (const { url, ref, tree } of others) {
    if (url === own?.url || tree.entry('clusters')?.type === 'directory') continue
    const file = readTenantFile(tree, url)
    if (!file) continue
    const readers = following.get(`${url} ${refKey(ref)}`) ?? []
    if (file instanceof BailiwickError) for (const node of topmost(readers)) errors.set(node.key, file)
    else
      for (const name of new Set(readers.map(node => node.tenant!))) tenants.set(name, tightened(tenants, name, file))
  }
  if (errors.size === 0) return { config: { ...config, tenants }, nodes }
  const marked = nodes.map(node => {
    const error = node.error ?? errors.get(node.key)
    return error ? { ...node, error } : node
  })
  return { config: { ...config, tenants }, nodes: marked }
}

/** Those whose parent is none of them. */
function topmost(nodes: readonly FleetNode[]): FleetNode[] {
  const keys = new Set(nodes.map(node => node.key))
  return nodes.filter(({ parent }) => parent === undefined || !keys.has(parent))
}

function tightened(tenants: ReadonlyMap<string, TenantConfig>, name: string, file: TenantFile): TenantConfig {
  const tenant = tenants.get(name) ?? defaultTenant(name)
  const { severities, allowedSources = [], namedRules = [] } = tenant.own ?? {}
  return {
    ...tenant,
    profile: file.restricted ? 'restricted' : tenant.profile,
    enforcement: file.blocks ? 'block' : tenant.enforcement,
    own: {
      severities: new Map([...(severities ?? []), ...file.severities]),
      allowedSources: file.allowedSources ? [...allowedSources, file.allowedSources] : allowedSources,
      namedRules: [...namedRules, ...file.namedRules],
    },
  }
}

/** A tenant that the fleet's file does not name. */
const defaultTenant = (name: string): TenantConfig => ({
  name,
  platform: false,
  namespaces: [],
  clusters: undefined,
  allowedSources: undefined,
  enforcement: undefined,
  profile: undefined,
  repositories: new Map(),
  origin: undefined,
  own: undefined,
})

/**
 * What the fleet's file says, with one address for each repository. The fleet's own repository keeps the address by which it
 * was read, whatever the file calls it: a file cannot make its repository pass for another one.
 */
export function withOwnAddress(config: FleetConfig, own: string): FleetConfig {
  if (config.aliases.size === 0) return config
  const called = config.aliases.get(own)
  const renamed = [...config.aliases].map(([address, url]) => [address, url === called ? own : url] as const)
  const aliases = new Map([...renamed, ...(called === undefined ? [] : [[called, own] as const])])
  aliases.delete(own)
  const at = (url: string) => addressIn(aliases, url)
  const tenants = [...config.tenants].map(([name, tenant]) => {
    const repositories = new Map([...tenant.repositories].map(([url, id]) => [at(url), id]))
    return [name, { ...tenant, repositories }] as const
  })
  const gatedBranches = config.gatedBranches.map(one => ({ ...one, url: at(one.url) }))
  return { ...config, aliases, gatedBranches, tenants: new Map(tenants) }
}

/** The same with an address that the caller knows the repository by, whatever the file says of it. */
export function withAlias(config: FleetConfig, alias: string | undefined, own: string): FleetConfig {
  if (alias === undefined || alias === own) return config
  return { ...config, aliases: new Map([...config.aliases, [alias, own]]) }
}
