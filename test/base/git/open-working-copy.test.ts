import { appendFileSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openCommit, readCommit } from '../../../src/git/commits.ts'
import { MAX_FILE_BYTES } from '../../../src/git/entry-limits.ts'
import { indexStats } from '../../../src/git/open-files.ts'
import { openSnapshot, readUnlessLarge, type Tree } from '../../../src/git/tree.ts'
import { openWorkingCopy, readWorkingCopy } from '../../../src/git/working-copy.ts'
import { git, repository, scratch, write } from '../../surface/cli/run-main.ts'

const text = (tree: Tree, path: string) => Buffer.from(tree.read(path)).toString()

/** Files as git wrote them some time ago, so that the index knows them. */
function settled(files: Record<string, string>): string {
  const dir = repository(scratch(), files)
  for (const path of Object.keys(files)) utimesSync(join(dir, path), 1_700_000_000, 1_700_000_000)
  git(dir, 'update-index', '--refresh')
  return dir
}

describe('a working copy of which only what is asked for is read', () => {
  test('is the tree that reading all of it gives', async () => {
    const dir = settled({ 'a/b.yaml': 'b', 'a/c.sh': 'c', 'old.yaml': 'x', '.gitignore': 'out\n', 'deep/er/d': '' })
    git(dir, 'update-index', '--chmod=+x', 'a/c.sh')
    write(dir, { 'a/b.yaml': 'changed', 'new.yaml': 'n', 'out/ignored': 'i' })
    rmSync(join(dir, 'old.yaml'))
    symlinkSync('a/b.yaml', join(dir, 'link'))
    git(dir, 'init', '--quiet', 'module')
    const [lazy, eager] = [await openWorkingCopy(dir), openSnapshot(await readWorkingCopy(dir))]
    expect(lazy.id).toBe(eager.id)
    for (const path of ['', 'a', 'deep', 'deep/er']) expect(lazy.list(path)).toEqual(eager.list(path))
    expect([text(lazy, 'a/b.yaml'), text(lazy, 'link'), text(lazy, 'new.yaml')]).toEqual(['changed', 'a/b.yaml', 'n'])
    expect(() => lazy.read('module')).toThrow('no such file')
  })

  test('a file that was not touched is not read for its id; one that was is', async () => {
    const dir = settled({ 'a.yaml': 'a', 'b.yaml': 'b' })
    const known = await indexStats(dir, join(dir, '.git/index'))
    const { lstatSync } = await import('node:fs')
    const statsOf = (path: string) => lstatSync(join(dir, path), { bigint: true })
    expect(known('a.yaml', statsOf('a.yaml'))).toBe(git(dir, 'rev-parse', 'HEAD:a.yaml').trim())
    // same size, same time of change, as a copy leaves it
    writeFileSync(join(dir, 'b.yaml'), 'c')
    utimesSync(join(dir, 'b.yaml'), 1_700_000_000, 1_700_000_000)
    expect(known('b.yaml', statsOf('b.yaml'))).toBeUndefined()
    expect(text(await openWorkingCopy(dir), 'b.yaml')).toBe('c')
  })

  test('what a filter of git keeps counts, not what it wrote', async () => {
    const dir = repository(scratch(), { '.gitattributes': '*.yaml text eol=crlf\n', 'a.yaml': 'a: 1\n' })
    rmSync(join(dir, 'a.yaml'))
    git(dir, 'checkout', '--quiet', 'a.yaml')
    utimesSync(join(dir, 'a.yaml'), 1_700_000_000, 1_700_000_000)
    git(dir, 'update-index', '--refresh')
    expect(text(await openWorkingCopy(dir), 'a.yaml')).toBe('a: 1\n')
  })

  test('a sparse checkout has what it leaves out', async () => {
    const dir = settled({ 'a/a.yaml': 'a', 'b/b.yaml': 'b' })
    git(dir, 'sparse-checkout', 'set', 'a')
    const tree = await openWorkingCopy(dir)
    expect([tree.id, text(tree, 'b/b.yaml')]).toEqual([git(dir, 'rev-parse', 'HEAD^{tree}').trim(), 'b'])
  })

  test('a file one byte over the limit is an error for who reads it, and for nobody else', async () => {
    const dir = settled({ 'a.yaml': 'a', 'media.json': '' })
    truncateSync(join(dir, 'media.json'), MAX_FILE_BYTES)
    expect((await openWorkingCopy(dir)).read('media.json')).toHaveLength(MAX_FILE_BYTES)
    appendFileSync(join(dir, 'media.json'), 'x')
    const tree = await openWorkingCopy(dir)
    expect(text(tree, 'a.yaml')).toBe('a')
    expect(() => tree.read('media.json')).toThrow(`media.json: too large (${MAX_FILE_BYTES + 1} bytes)`)
    expect(readUnlessLarge(tree, 'media.json')).toBeUndefined()
  })

  test('one file too many is refused', async () => {
    const dir = settled({ a: '', b: '', c: '' })
    const limits = { files: 3, bytes: 10 }
    expect((await openWorkingCopy(dir, limits)).list('')).toHaveLength(3)
    write(dir, { d: '' })
    await expect(openWorkingCopy(dir, limits)).rejects.toMatchObject({ code: 'render-limits' })
    git(dir, 'add', '--all')
    git(dir, 'commit', '--quiet', '-m', 'd')
    expect((await openCommit(dir, 'HEAD~1', undefined, limits)).list('')).toHaveLength(3)
    await expect(openCommit(dir, 'HEAD', undefined, limits)).rejects.toMatchObject({ code: 'render-limits' })
  })

  test('a path behind a directory that became a link is gone', async () => {
    const dir = settled({ 'a/b.yaml': 'b', 'c.yaml': 'c' })
    renameSync(join(dir, 'a'), join(dir, '../moved-away'))
    symlinkSync(join(dir, '../moved-away'), join(dir, 'a'))
    const tree = await openWorkingCopy(dir)
    rmSync(join(dir, '../moved-away'), { recursive: true })
    expect(tree.entry('a/b.yaml')).toBeUndefined()
    expect(tree.entry('a')?.type).toBe('symlink')
  })
})

describe('a commit of which only what is asked for is read', () => {
  test('is the tree that reading all of it gives, with what lies beside it or without', async () => {
    const dir = settled({ 'a/b.yaml': 'b', 'c.yaml': 'c', big: 'x'.repeat(1024 * 1024 + 1) })
    write(dir, { 'c.yaml': 'changed' })
    const beside = await openWorkingCopy(dir)
    const eager = openSnapshot(await readCommit(dir, 'HEAD'))
    for (const tree of [await openCommit(dir, 'HEAD', beside), await openCommit(dir, 'HEAD')]) {
      expect(tree.id).toBe(eager.id)
      for (const path of ['a/b.yaml', 'c.yaml', 'big']) expect(text(tree, path)).toBe(text(eager, path))
    }
  })

  test('says which blob a partial clone lacks, when it is asked for', async () => {
    const dir = settled({ 'a.yaml': 'a', 'b.yaml': 'b' })
    const id = git(dir, 'rev-parse', 'HEAD:a.yaml').trim()
    rmSync(join(dir, '.git/objects', id.slice(0, 2), id.slice(2)))
    const tree = await openCommit(dir, 'HEAD')
    expect(text(tree, 'b.yaml')).toBe('b')
    expect(() => tree.read('a.yaml')).toThrow(id)
  })
})
