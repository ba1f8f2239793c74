import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { areaOf, exportedRules, rulesRegistry } from '../../docs/rules-registry.ts'
import { catalogue } from '../../src/rules/catalogue.ts'
import { rules } from '../../src/rules/registry.ts'

const root = join(import.meta.dirname, '../..')

test('docs/rules.md is what the registry says; `npm run generate` writes it', () => {
  expect(readFileSync(join(root, 'docs/rules.md'), 'utf8')).toBe(catalogue(rules, areaOf()))
})

test('every rule that a file exports is in the registry, sorted; `npm run generate` writes it', () => {
  const exported = exportedRules()
  expect(rules.map(({ id }) => id)).toEqual(exported.map(({ id }) => id).sort())
  // the formatter sorts the imports
  const words = (text: string) => text.split(/[\s,]+/).sort()
  expect(words(readFileSync(join(root, 'src/rules/registry.ts'), 'utf8'))).toEqual(words(rulesRegistry()))
})

test('the renderer raises no rule that is not in the registry', () => {
  const files = globSync('src/kustomize/**/*.ts', { cwd: root })
  const raised = files.flatMap(file =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/rule: '([a-z-]+)'/g)].map(match => match[1]),
  )
  expect(raised.length).toBeGreaterThan(5)
  for (const id of raised) expect(rules.map(rule => rule.id)).toContain(id)
})
