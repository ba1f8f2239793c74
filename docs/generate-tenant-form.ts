import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tenantRequestForm } from '../src/tenants/onboard/tenant-form.ts'

writeFileSync(join(import.meta.dirname, 'tenant-request.yml'), tenantRequestForm())
