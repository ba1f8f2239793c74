import { expect, test } from 'vitest'
import { matrixLine, matrixTable } from '../../src/report/matrix.ts'
import { failure, finding, verdict } from './samples.ts'

const cells = (table: string) =>
  table.split('\n').map(line =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim()),
  )

test('every tenant has its row and every cluster its column', () => {
  expect(cells(matrixTable(verdict()))).toEqual([
    ['tenant', '`production`', '`staging`'],
    ['---', '---', '---'],
    ['`dev-team`', '✅', '✅'],
    ['`ops-team`', '➖', '✅'],
  ])
  expect(matrixLine(verdict())).toBe('`production` ✅ · `staging` ✅')
})

test('what blocks comes first, what is fixed or waived is no reason to', () => {
  const dev = { tenant: 'dev-team', cluster: 'production' }
  const said = verdict({
    violations: [
      finding({ ...dev, state: 'fixed' }),
      finding({ ...dev, state: 'waived' }),
      finding({ ...dev, state: 'fixed' }),
      finding(),
    ],
  })
  expect(cells(matrixTable(said)).slice(2)).toEqual([
    ['`ops-team`', '➖', '❌ 1'],
    ['`dev-team`', '✅', '✅'],
  ])
})

test('an error before a violation before what stands before a warning', () => {
  const here = { tenant: 'ops-team', cluster: 'staging' }
  const all = {
    errors: [failure(here)],
    violations: [finding(here), finding({ ...here, state: 'standing' })],
    warnings: [finding({ ...here, level: 'warning' }), finding({ ...here, level: 'warning', state: 'standing' })],
  }
  const cell = (part: Partial<typeof all>) => cells(matrixTable(verdict({ ...part })))
  const of = (part: Partial<typeof all>) => cell(part).find(([name]) => name === '`ops-team`')?.[2]
  expect(of(all)).toBe('❔ not evaluated')
  expect(of({ ...all, errors: [] })).toBe('❌ 1')
  expect(of({ violations: [all.violations[1]!], warnings: all.warnings })).toBe('✅ (1 existing)')
  expect(of({ errors: [failure({ ...here, state: 'standing' })] })).toBe('✅ (1 existing)')
  expect(of({ warnings: all.warnings })).toBe('✅ (1 ⚠️)')
  expect(matrixLine(verdict(all))).toBe('`production` ✅ · `staging` ❔ not evaluated')
})

test('the platform and a tenant that goes have a row where there is something to say', () => {
  const said = verdict({ violations: [finding({ tenant: '' }), finding({ tenant: 'gone', cluster: 'production' })] })
  expect(cells(matrixTable(said)).map(([name]) => name)).toContain('the platform')
  expect(cells(matrixTable(said))).toContainEqual(['`gone`', '❌ 1', '➖'])
})

test('a large fleet costs no more than its findings', () => {
  const tenants = Array.from({ length: 3000 }, (_, index) => ({
    name: `team-${index}`,
    clusters: ['production', 'staging'],
    namespaces: [],
    identities: [],
  }))
  const violations = tenants.flatMap(({ name }) => [
    finding({ tenant: name }),
    finding({ tenant: name, state: 'standing' }),
  ])
  const start = performance.now()
  expect(matrixTable(verdict({ tenants, violations }))).toContain('… and 2950 more tenants')
  expect(performance.now() - start).toBeLessThan(20_000)
})
