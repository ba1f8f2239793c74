import type { FleetConfig, TenantConfig } from '../model/fleet-config.ts'
import { membersOf } from '../tenancy/delegated.ts'

/** What the fleet's file says of a tenant, or of each of several; undefined: nothing. */
export const memberSettings = (
  { tenants }: Pick<FleetConfig, 'tenants'>,
  tenant: string | undefined,
): readonly (TenantConfig | undefined)[] => membersOf(tenant ?? '').map(name => tenants.get(name))
