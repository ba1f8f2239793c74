import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withSpeedTable } from './speed-table.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
writeFileSync(join(root, 'README.md'), withSpeedTable(read('README.md'), read('bench/RESULTS.md')))
