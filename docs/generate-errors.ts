import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorList } from './error-list.ts'

writeFileSync(join(import.meta.dirname, 'errors.md'), errorList())
