import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settingsExample } from './settings-example.ts'

const root = join(import.meta.dirname, '..')
writeFileSync(join(root, '.env.example'), settingsExample(readFileSync(join(root, 'docs/settings.md'), 'utf8')))
