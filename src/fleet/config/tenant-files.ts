import { BailiwickError } from '../../errors.ts'
import type { FleetNode, FleetRepository } from '../model/fleet.ts'
import type { FleetConfig, TenantConfig } from '../model/fleet-config.ts'
import { refKey } from '../model/ref.ts'
import { readTenantFile, type TenantFile } from './read-tenant-file.ts'

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

/** A tenant of whom the fleet's file says nothing. */
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
