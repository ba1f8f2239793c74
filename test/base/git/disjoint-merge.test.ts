import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { mergeDisjoint } from '../../../src/git/disjoint-merge.ts'
import { type ListedEntry, packSnapshot, type SnapshotFile, treeIdOf } from '../../../src/git/tree.ts'
import { randomHistory, type Shape } from './random-history.ts'
import { temporaryFolder } from './temporary-folder.ts'

const CASES = 300

/** A commit for `git fast-import`. */
function commitOf(mark: number, parent: number | undefined, files: readonly SnapshotFile[]): string {
  const entries = files.map(({ path, mode = '100644', id, content }) =>
    mode === '160000'
      ? `M 160000 ${id} ${path}\n`
      : `M ${mode} inline ${path}\ndata ${Buffer.byteLength(content)}\n${String(content)}\n`,
  )
  const from = parent === undefined ? '' : `from :${parent}\n`
  const head = `commit refs/heads/c${mark}\nmark :${mark}\ncommitter a <a@a> ${mark} +0000\ndata 0\n`
  return `${head}${from}deleteall\n${entries.join('')}\n`
}

const listing = (files: readonly SnapshotFile[]): readonly ListedEntry[] => packSnapshot(files).entries

test.each<Shape>(['paths', 'everything'])(
  '%s: what it merges, git merges without a conflict to the same tree',
  shape => {
    const dir = temporaryFolder()
    const cases = Array.from({ length: CASES }, (_, seed) =>
      randomHistory(seed, shape).map(files => [...files.values()]),
    )
    const stream = cases.map(([before, ours, theirs], at) => {
      const mark = 3 * at + 1
      return commitOf(mark, undefined, before!) + commitOf(mark + 1, mark, ours!) + commitOf(mark + 2, mark, theirs!)
    })
    execFileSync('git', ['init', '-q', '--bare', dir])
    execFileSync('git', ['-C', dir, 'fast-import', '--quiet'], { input: stream.join('') })
    let merged = 0
    let mixed = 0
    for (const [at, [before, ours, theirs]] of cases.entries()) {
      const result = mergeDisjoint(listing(before!), listing(ours!), listing(theirs!))
      if (!result) continue
      const tree = treeIdOf(result)
      merged++
      if (![ours, theirs].some(side => treeIdOf(listing(side!)) === tree)) mixed++
      const sides = [`c${3 * at + 2}`, `c${3 * at + 3}`]
      const git = spawnSync('git', ['-C', dir, 'merge-tree', '--write-tree', ...sides], { encoding: 'utf8' })
      expect({ at, status: git.status, tree: git.stdout.trim() }).toEqual({ at, status: 0, tree })
      const names = execFileSync('git', ['-C', dir, 'ls-tree', '-r', '--name-only', tree], { encoding: 'utf8' })
      expect(result.map(({ path }) => path).join('\n')).toBe(names.trimEnd())
    }
    expect(merged).toBeGreaterThan(CASES / 20)
    expect(mixed, 'both sides changed something').toBeGreaterThan(CASES / 50)
  },
)

test('a file that one side adds to a directory which the other one renames is left to git', () => {
  const of = (...paths: string[]) => listing(paths.map(path => ({ path, content: path.slice(-1) })))
  const before = of('d/a', 'd/b')
  expect(mergeDisjoint(before, of('new/a', 'new/b'), of('d/a', 'd/b', 'd/c'))).toBeUndefined()
  expect(mergeDisjoint(before, of('d/b'), of('d/a', 'd/b', 'd/c'))).toMatchObject([{ path: 'd/b' }, { path: 'd/c' }])
})
