import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandReference } from './command-reference.ts'

writeFileSync(join(import.meta.dirname, 'command-reference.md'), await commandReference())
