import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { withCommandReference } from '../../../docs/command-reference.ts'
import { Metrics } from '../../../src/receive/metrics.ts'
import { commandOptions } from './command-options.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8')

/** Cells of the rows of every table of a page, without code marks, where the first cell fits. */
const rowsOf = (page: string, first: RegExp) =>
  [...read(page).matchAll(/^\| (.+) \|$/gm)]
    .map(([, row = '']) => row.split(/ ?\| ?/).map(cell => cell.trim().replaceAll('`', '')))
    .filter(([name = '']) => first.test(name))

test('docs/command-line.md has the help of every command (npm run generate)', async () => {
  const page = read('docs/command-line.md')
  expect(page).toBe(await withCommandReference(page))
})

/** Commands whose options are read as in comments on GitHub, by the parser in this file. */
const PARSED_BY: Readonly<Record<string, readonly string[]>> = {
  'src/tenants/onboard/parse-command.ts': ['onboard'],
  'src/tenants/offboard/request.ts': ['offboard'],
}

test.each(Object.entries(PARSED_BY))('the help names every option that %s reads', async (file, names) => {
  const documented = new Set((await Promise.all(names.map(commandOptions))).flatMap(options => [...options]))
  const taken = [...read(file).matchAll(/'(--[a-z-]+)'/g)].map(([, option = '']) => option)
  expect(taken.length).toBeGreaterThan(1)
  // the App learns by itself that a step is done, in a clone the same command continues; --starter was removed
  expect(taken.filter(option => !['--continue', '--starter'].includes(option) && !documented.has(option))).toEqual([])
})

test('docs/monitoring.md lists every metric, with its labels', async () => {
  const metrics = new Metrics()
  metrics.watchQueue(async () => [])
  metrics.watchThread(async () => 1)
  const { text } = await metrics.render()
  const registered = [...text.matchAll(/^# TYPE (bailiwick_\w+)/gm)].map(([, name = '']) => name)
  const source = read('src/receive/metrics.ts')
  const labelled = new Map(
    [...source.matchAll(/'(bailiwick_\w+)',\s*'[^']*',\s*\[([^\]]*)\]/g)].map(([, name = '', labels = '']) => [
      name,
      [...labels.matchAll(/'(\w+)'/g)].map(([, label]) => label).join(', '),
    ]),
  )
  const rows = new Map(rowsOf('docs/monitoring.md', /^bailiwick_/).map(([name = '', labels = '']) => [name, labels]))
  expect([...rows.keys()].sort()).toEqual(registered.sort())
  expect(rows).toEqual(labelled)
  const named = [...read('docs/monitoring.md').matchAll(/\b(bailiwick_[a-z_]+?)(?:_bucket|_count|_sum)?\b/g)]
  expect(named.map(([, name = '']) => name).filter(name => !labelled.has(name))).toEqual([])
})

test('docs/install.md lists every permission of app.yml, and those that are optional', () => {
  const { default_permissions: granted } = parse(read('app.yml')) as { default_permissions: Record<string, string> }
  const rows = rowsOf('docs/install.md', /^\w+: (?:read|write)$/)
  const isOptional = ([, purpose = '']: string[]) => purpose.startsWith('not in app.yml:')
  expect(rows.filter(row => !isOptional(row)).map(([name]) => name)).toEqual(
    expect.arrayContaining(Object.entries(granted).map(([name, level]) => `${name}: ${level}`)),
  )
  expect(rows.filter(row => !isOptional(row))).toHaveLength(Object.keys(granted).length)
  const optional = [...read('test/surface/config/app-permissions.test.ts').matchAll(/'optional (\w+: write)'/g)]
  expect(new Set(rows.filter(isOptional).map(([name]) => name))).toEqual(new Set(optional.map(([, name]) => name)))
})

test('docs/action.md lists every input and output of action.yml', () => {
  const action = parse(read('action.yml')) as Record<'inputs' | 'outputs', Record<string, unknown>>
  const names = [...Object.keys(action.inputs), ...Object.keys(action.outputs)]
  expect(
    rowsOf('docs/action.md', /^[a-z]+$/)
      .map(([name]) => name)
      .filter(name => name !== 'input' && name !== 'output'),
  ).toEqual(names)
})
