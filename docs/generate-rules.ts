import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue } from '../src/rules/catalogue.ts'
import { rules } from '../src/rules/registry.ts'

writeFileSync(join(import.meta.dirname, 'rules.md'), catalogue(rules))
