import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { INPUTS, isReader, testsOf } from './changed-tests.ts'

const root = join(import.meta.dirname, '../../..')
const listed = Object.keys(INPUTS).map(path => [path, readFileSync(join(root, path), 'utf8')] as const)

describe('the table of what tests read', () => {
  test.each(listed)('%s reads, and its globs name files', (path, text) => {
    expect(isReader(path, text)).toBe(true)
    for (const glob of INPUTS[path]!) expect(globSync(glob, { cwd: root }), glob).not.toEqual([])
  })

  test.each(listed)('%s names no path of the repository that is not in it', (path, text) => {
    expect(pathsNamedIn(path, text).filter(one => !isInput(one, INPUTS[path]!))).toEqual([])
  })

  test('a read that is not in it is found', () => {
    const read =
      "readFileSync(join(import.meta.dirname, '../../../docs/rules.md'))\ncpSync('test/fleet/fleets/acme', to)"
    expect(pathsNamedIn('test/workers/story/stage.ts', read)).toEqual(['docs/rules.md', 'test/fleet/fleets/acme'])
    expect(pathsNamedIn('test/surface/cli/a.ts', "join(import.meta.dirname, '../../../docs/rules.md')")).toEqual([
      'docs/rules.md',
    ])
  })
})

describe('the tests of a change', () => {
  test.each([
    ['of a source', 'src/kube/internal-host.ts', 'test/base/kube/address/internal-host.test.ts'],
    ['of a table that a source imports', 'src/kube/rbac/default-policy.json', 'test/base/kube/rbac/authorizer.test.ts'],
    ['of what a thread loads', 'workers/fleets/thread.ts', 'test/workers/evaluator.test.ts'],
    ['of an attack', 'test/attacks/B-02/case.yaml', 'test/attacks/attacks-1.test.ts'],
    ['of a fixture', 'test/fixtures/render/names/input/kustomization.yaml', 'test/kustomize/fixtures.test.ts'],
    ['of the manifest of the App', 'app.yml', 'test/workers/app-flows/demands.test.ts'],
    ['of the docs', 'docs/rules.md', 'test/repository/docs/reference.test.ts'],
    ['of anything, where a program of ours is started', 'docs/concepts.md', 'test/workers/app/index.test.ts'],
    ['of the lock file', 'package-lock.json', 'test/base/kube/address/internal-host.test.ts'],
  ])('%s', (_what, changed, expected) => {
    expect(testsOf([changed])).toContain(expected)
  })

  test('leave out what reads none of it', () => {
    const tests = testsOf(['docs/concepts.md'])
    for (const path of [
      'base/kube/address/internal-host',
      'attacks/attacks-1',
      'workers/app-flows/demands',
      'kustomize/fixtures',
    ]) {
      expect(tests).not.toContain(`test/${path}.test.ts`)
    }
  })
})

/** Whether a path is a glob's, or a folder above its files. */
function isInput(path: string, globs: readonly string[]): boolean {
  const known = globs.flatMap(glob => [glob, ...globSync(glob, { cwd: root })])
  return globs.some(glob => matchesGlob(path, glob)) || known.some(one => one.startsWith(`${path}/`))
}

/**
 * Paths that a text names and that exist, but those of sources, which are imported: words that are a path from the root,
 * and words behind `import.meta.dirname`, joined.
 */
function pathsNamedIn(file: string, text: string): string[] {
  const joined = [...text.matchAll(/import\.meta\.dirname((?:,\s*'[^'\n]*')+)/g)].map(([, words = '']) =>
    join(root, dirname(file), ...[...words.matchAll(/'([^'\n]*)'/g)].map(([, word = '']) => word)),
  )
  const words = [...text.matchAll(/'([\w.-]+(?:\/[\w.-]+)+|[\w-]+\.\w+)'/g)].map(([, word = '']) => join(root, word))
  return [...joined, ...words]
    .map(path => relative(root, path))
    .filter(path => path !== '' && !path.startsWith('..') && !path.endsWith('.ts') && existsSync(join(root, path)))
}
