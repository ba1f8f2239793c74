import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withFieldsTable } from './fields-table.ts'

const path = join(import.meta.dirname, 'supported.md')
writeFileSync(path, withFieldsTable(readFileSync(path, 'utf8')))
