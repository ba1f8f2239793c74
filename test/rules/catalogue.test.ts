import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { catalogue } from '../../src/rules/catalogue.ts'
import { rules } from '../../src/rules/registry.ts'

const root = join(import.meta.dirname, '../..')

test('docs/rules.md is what the registry says; `node docs/generate-rules.ts` writes it', () => {
  expect(readFileSync(join(root, 'docs/rules.md'), 'utf8')).toBe(catalogue(rules))
})

test('rules are sorted, named once, and each is in a file of its name', () => {
  const ids = rules.map(rule => rule.id)
  expect(ids).toEqual([...new Set(ids)].sort())
  const files = new Set(globSync('src/rules/*/*.ts', { cwd: root }).map(file => basename(file, '.ts')))
  expect(ids.filter(id => !files.has(id))).toEqual([])
})

test('the renderer raises no rule that is not in the registry', () => {
  const files = globSync('src/kustomize/**/*.ts', { cwd: root })
  const raised = files.flatMap(file =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/rule: '([a-z-]+)'/g)].map(match => match[1]),
  )
  expect(raised.length).toBeGreaterThan(5)
  for (const id of raised) expect(rules.map(rule => rule.id)).toContain(id)
})
