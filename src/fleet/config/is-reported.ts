import type { FleetConfig } from '../model/fleet-config.ts'

/** Whether findings about a tenant are only reported. */
export function isReported({ tenants, enforcement }: FleetConfig, tenant: string | undefined): boolean {
  return (tenants.get(tenant ?? '')?.enforcement ?? enforcement) === 'report'
}
