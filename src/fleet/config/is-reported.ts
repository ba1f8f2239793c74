import type { FleetConfig } from '../model/fleet-config.ts'
import { memberSettings } from './member-settings.ts'

/** Whether findings about a tenant, or about all of several, are only reported. */
export const isReported = (config: FleetConfig, tenant: string | undefined): boolean =>
  memberSettings(config, tenant).every(one => (one?.enforcement ?? config.enforcement) === 'report')
