import { FLEET_FILE } from '../model/fleet-config.ts'
import { fleetShape, tenantShape } from './fleet-shape.ts'
import type { JsonSchema } from './shape.ts'

/** The JSON schema (draft-07) of the file, made of what reads it; docs/bailiwick.schema.json is this object. */
export function fleetSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: FLEET_FILE,
    description: 'Configuration of a fleet; see docs/fleet-file.md.',
    ...fleetShape.schema,
    definitions: {
      tenant: { description: "The same file in a tenant's own repository.", ...tenantShape.schema },
    },
  }
}
