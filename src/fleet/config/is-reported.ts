import type { FleetConfig } from '../model/fleet-config.ts'
import { membersOf } from '../tenancy/delegated.ts'

/** Whether findings about a tenant, or about all of several, are only reported. */
export function isReported({ tenants, enforcement }: FleetConfig, tenant: string | undefined): boolean {
  return membersOf(tenant ?? '').every(one => (tenants.get(one)?.enforcement ?? enforcement) === 'report')
}
