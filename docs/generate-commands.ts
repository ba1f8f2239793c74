import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withCommandReference } from './command-reference.ts'

const path = join(import.meta.dirname, 'command-line.md')
writeFileSync(path, await withCommandReference(readFileSync(path, 'utf8')))
