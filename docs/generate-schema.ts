import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fleetSchema } from '../src/fleet/config/fleet-shape.ts'

writeFileSync(join(import.meta.dirname, 'bailiwick.schema.json'), `${JSON.stringify(fleetSchema(), null, 2)}\n`)
