import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findExamples } from './find-examples.ts'

// Writes src/rules/examples.json anew, from the cases of this folder: `node test/attacks/make-examples.ts`
const file = join(import.meta.dirname, '../../src/rules/examples.json')
writeFileSync(file, `${JSON.stringify(findExamples(), null, 2)}\n`)
