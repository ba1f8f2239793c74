import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LIMITS } from './limits-table.ts'
import { PAST_LIMITS as OF_GRAPH } from './past-limits-of-graph.ts'
import { PAST_LIMITS as OF_RULES, ELSEWHERE as OF_RULES_ELSEWHERE } from './past-limits-of-rules.ts'
import { PAST_LIMITS as OF_WORKERS } from './past-limits-of-workers.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Limits that another test goes past: its file and its name. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...OF_RULES_ELSEWHERE,
  'src/fleet/graph/node-sources.ts MAX_SOURCES':
    'test/fleet/charts.test.ts › charts from more sources than are read are an error of the tenant who names them',
  'src/tenants/onboard/template.ts MAX_STEPS':
    'test/tenants/onboard/code-owners.test.ts › patterns that need too much work are an error',
  'src/tenants/onboard/template.ts MAX_BYTES': 'test/tenants/onboard/template.test.ts › is larger than 64 KiB',
  'src/tenants/onboard/template.ts MAX_FILES':
    'test/tenants/onboard/template.test.ts › names that are written for each tenant anyway, and too many files',
}

const CASES = { ...OF_GRAPH, ...OF_RULES, ...OF_WORKERS }

test.each(Object.entries(CASES))('one past %s is not silent', { timeout: 60_000 }, (_row, goPast) => goPast())

test('every limit that ends in an error has a test that goes past it', () => {
  const rows = [...Object.keys(CASES), ...Object.keys(ELSEWHERE)]
  expect(rows.sort()).toEqual([...LIMITS.error].sort())
})

test.each(Object.entries(ELSEWHERE))('%s: the test that goes past it is there', (_row, place) => {
  const [file = '', name = ''] = place.split(' › ')
  expect(existsSync(join(ROOT, file)), file).toBe(true)
  expect(readFileSync(join(ROOT, file), 'utf8')).toContain(name)
})
