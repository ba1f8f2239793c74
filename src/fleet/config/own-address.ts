import { addressIn } from '../model/address-in.ts'
import type { FleetConfig } from '../model/fleet-config.ts'

/**
 * What the fleet's file says, with one address for each repository. The fleet's own repository keeps the address by which it
 * was read, whatever the file calls it: no file makes its repository pass for another one.
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
