import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const TABLE = join(import.meta.dirname, '../../../src/schema/types-table.ts')

/** In a process of its own, where nobody has asked before. */
const PROGRAM = `
const parse = JSON.parse
const long = []
JSON.parse = text => { if (text.length > 100_000) long.push(text.length); return parse(text) }
const { kindEntry, objectType } = await import(${JSON.stringify(TABLE)})
const counts = [long.length]
for (const ask of [() => kindEntry('v1', 'Pod'), () => objectType('core.v1.PodSpec')]) { ask(); counts.push(long.length) }
console.log(counts.join(' '))`

test('a start reads no table: the first question does, once', () => {
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM], { encoding: 'utf8' })
  expect(said.trim()).toBe('0 1 1')
})
