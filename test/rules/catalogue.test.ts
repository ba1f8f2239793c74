import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { rulesRegistry } from '../../docs/rules-registry.ts'
import { catalogue } from '../../src/rules/catalogue.ts'
import { rules } from '../../src/rules/registry.ts'

const root = join(import.meta.dirname, '../..')

test('docs/rules.md is what the registry says; `npm run generate` writes it', () => {
  expect(readFileSync(join(root, 'docs/rules.md'), 'utf8')).toBe(catalogue(rules))
})

test('every file with a rule is in the registry; `npm run generate` writes it', () => {
  expect(readFileSync(join(root, 'src/rules/registry.ts'), 'utf8')).toBe(rulesRegistry())
})

test('rules are sorted, and each is the one export of a file of its name', () => {
  const files = globSync('src/rules/*/*.ts', { cwd: root, exclude: ['src/rules/model/*'] })
  expect(rules.map(rule => rule.id)).toEqual(files.map(file => basename(file, '.ts')).sort())
})

test('the renderer raises no rule that is not in the registry', () => {
  const files = globSync('src/kustomize/**/*.ts', { cwd: root })
  const raised = files.flatMap(file =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/rule: '([a-z-]+)'/g)].map(match => match[1]),
  )
  expect(raised.length).toBeGreaterThan(5)
  for (const id of raised) expect(rules.map(rule => rule.id)).toContain(id)
})
