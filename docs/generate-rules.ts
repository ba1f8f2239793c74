import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue } from '../src/rules/catalogue.ts'
import { areaOf, rulesRegistry } from './rules-registry.ts'

writeFileSync(join(import.meta.dirname, '../src/rules/registry.ts'), rulesRegistry())
// read after it is written
const { rules } = await import('../src/rules/registry.ts')
writeFileSync(join(import.meta.dirname, 'rules.md'), catalogue(rules, areaOf()))
