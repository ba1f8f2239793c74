import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf, production } from '../runner/sources.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8')
const { dependencies, devDependencies, engines } = JSON.parse(read('package.json'))

/** `@a/b` of `@a/b/c.js`. */
const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0]

test('dependencies are the packages that src and workers import, and no others', () => {
  const imported = [...production.values()].flatMap(importsOf).map(({ specifier }) => specifier)
  const packages = imported.filter(name => !name.startsWith('.') && !isBuiltin(name)).map(packageOf)
  expect(Object.keys(dependencies).sort()).toEqual([...new Set(packages)].sort())
})

test('docs/architecture.md has a row for each dependency, those of the bundle first, and no other', () => {
  const [section = ''] = /^## Dependencies$[\s\S]*?(?=^## )/m.exec(read('docs/architecture.md')) ?? []
  const rows = [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '))
  expect(rows.slice(0, Object.keys(dependencies).length).sort()).toEqual(Object.keys(dependencies).sort())
  expect(rows.toSorted()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort())
})

test('versions are exact, and the lock has these', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  const root = packages['']
  expect([root.dependencies, root.devDependencies, root.engines]).toEqual([dependencies, devDependencies, engines])
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    expect([version, packages[`node_modules/${name}`].version], name).toEqual([
      expect.stringMatching(/^[\d.]+$/),
      version,
    ])
})

test('a runtime package is none of development for who installs without those', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  const reached = new Set<string>()
  const visit = (from: string, name: string): void => {
    let folder = from
    while (folder !== '' && !packages[`${folder}/node_modules/${name}`])
      folder = folder.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, '')
    const path = `${folder}/node_modules/${name}`.replace(/^\//, '')
    if (reached.has(path)) return
    reached.add(path)
    for (const needed of Object.keys(packages[path].dependencies ?? {})) visit(path, needed)
  }
  for (const name of Object.keys(dependencies)) visit('', name)
  expect(reached.size).toBeGreaterThan(100)
  expect([...reached].filter(path => packages[path].dev)).toEqual([])
})
