import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readRecipes } from '../rules/recipes/read-recipes.ts'
import { readCases } from './attack-case.ts'
import { catalogueIds } from './catalogue-ids.ts'

const root = join(import.meta.dirname, '../..')
const elsewhere = readFileSync(join(import.meta.dirname, 'elsewhere.md'), 'utf8')
const rows = new Map(
  [...elsewhere.matchAll(/^\| ([A-Z]+-\d+) \| [^|]+ \| ([^|]+) \|$/gm)].map(match => [match[1]!, match[2]!]),
)
const hasFolder = (id: string) => existsSync(join(import.meta.dirname, id, 'case.yaml'))

describe('the catalogue of attacks', () => {
  test('has a folder or a row for each, never both', () => {
    expect(catalogueIds.length).toBe(294)
    expect(catalogueIds.filter(id => !hasFolder(id) && !rows.has(id))).toEqual([])
    expect(catalogueIds.filter(id => hasFolder(id) && rows.has(id))).toEqual([])
    expect([...rows.keys()].filter(id => !catalogueIds.includes(id))).toEqual([])
  })

  test('says of each row what covers it, or whose matter it is', () => {
    for (const [id, state] of rows) {
      expect(state, id).toMatch(/^(covered: `test\/|partly: `test\/.*open \([a-z]+\)|open \([a-z]+\)|left: )/)
      const named = [...state.matchAll(/`(test\/[^`]+)`/g)].map(match => match[1]!)
      expect(named.filter(path => !existsSync(join(root, path)))).toEqual([])
    }
  })

  test('is counted by README.md as it is', () => {
    const hundreds = (count: number) => `more than ${(Math.floor(count / 100) * 100).toLocaleString('en-US')}`
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const cases = readCases()
    const variants = cases.reduce((sum, one) => sum + one.variants.size, 0)
    const rows = readRecipes().reduce((sum, { recipes }) => sum + recipes.length, 0)
    expect(readme).toContain(`${hundreds(variants)}, in ${hundreds(cases.length)} cases, with their exact findings`)
    expect(readme).toContain(`${hundreds(rows)} changes with the answer of Flux, Capsule or the API server`)
  })

  test('is the one that it was written from', ({ skip }) => {
    const path = join(root, '../shared/reference/threats.md')
    if (!existsSync(path)) skip('the catalogue is not beside the project')
    const ids = [...readFileSync(path, 'utf8').matchAll(/^\| ([A-Z]+-\d+) \|/gm)].map(match => match[1]!)
    expect([...catalogueIds].sort()).toEqual([...new Set(ids)].sort())
  })
})
