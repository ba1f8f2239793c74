import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkPaths } from '../../../src/git/entry-limits.ts'
import { MemoryCache, ObjectStore } from '../../../src/git/object-store.ts'
import { objectId, treeIdOf } from '../../../src/git/tree.ts'
import { temporaryFolder } from './temporary-folder.ts'

const content = Buffer.from('kind: Namespace\n')
const id = objectId('blob', content)
const fileOf = (dir: string, kind: string, name: string) => join(dir, kind, name.slice(0, 2), name.slice(2))

describe('ObjectStore', () => {
  test('gives back what was written, also to another process; knows nothing else', async () => {
    const dir = temporaryFolder()
    await new ObjectStore(dir).writeBlob(id, content)
    const other = new ObjectStore(dir)
    expect(Buffer.from((await other.readBlob(id))!)).toEqual(content)
    expect(await other.readBlob('1'.repeat(40))).toBeUndefined()
  })

  test('refuses a blob that is not what its id says, and an id that is a path', async () => {
    const store = new ObjectStore(temporaryFolder())
    await expect(store.writeBlob(id, Buffer.from('kind: Secret\n'))).rejects.toMatchObject({ code: 'git-corrupt' })
    await expect(store.readBlob('../../../../etc/passwd')).rejects.toMatchObject({ code: 'git-corrupt' })
    expect(await store.readBlob(id)).toBeUndefined()
  })

  test('drops a file that was changed or torn, so that it is fetched again', async () => {
    const dir = temporaryFolder()
    await new ObjectStore(dir).writeBlob(id, content)
    for (const damaged of ['kind: ClusterRole\n', content.subarray(0, 5), '']) {
      writeFileSync(fileOf(dir, 'blobs', id), damaged)
      expect(await new ObjectStore(dir).readBlob(id)).toBeUndefined()
      expect(existsSync(fileOf(dir, 'blobs', id))).toBe(false)
      await new ObjectStore(dir).writeBlob(id, content)
    }
    expect(await new ObjectStore(dir).readBlob(id)).toBeDefined()
  })

  test('keeps listings by tree id; one that was edited counts as absent', async () => {
    const dir = temporaryFolder()
    const store = new ObjectStore(dir)
    const entries = [
      { path: 'a/b "quoted"\n.yaml', mode: '100644', id },
      { path: 'c', mode: '160000', id: '1'.repeat(40) },
    ] as const
    const tree = treeIdOf(entries)
    await store.writeListing(tree, entries)
    expect(await store.readListing(tree)).toEqual(entries)
    await expect(store.writeListing('2'.repeat(40), entries)).rejects.toMatchObject({ code: 'git-corrupt' })
    const file = fileOf(dir, 'trees', tree)
    for (const damaged of [
      readFileSync(file, 'utf8').replace('100644', '100755'),
      '["100644"]\n',
      '{',
      '\n',
      'null\n',
    ]) {
      writeFileSync(file, damaged)
      expect(await store.readListing(tree)).toBeUndefined()
    }
  })

  test('remembers the tree of a commit per repository, and not after damage', async () => {
    const dir = temporaryFolder()
    const store = new ObjectStore(dir)
    const [commit, tree] = ['a'.repeat(40), 'b'.repeat(40)]
    await store.writeCommitTree('acme/Fleet', commit, tree)
    expect(await store.readCommitTree('Acme/fleet', commit)).toBe(tree)
    expect(await store.readCommitTree('acme/other', commit)).toBeUndefined()
    const [file] = globSync(`${fileOf(dir, 'commits', commit)}/*`)
    writeFileSync(file!, readFileSync(file!, 'utf8').replace('b'.repeat(40), 'c'.repeat(40)))
    expect(await store.readCommitTree('acme/fleet', commit)).toBeUndefined()
  })

  test('two processes write and read the same blobs at once', async () => {
    const dir = temporaryFolder()
    const program = `
      const { ObjectStore } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/git/object-store.ts'))})
      const { objectId } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/git/tree.ts'))})
      const store = new ObjectStore(${JSON.stringify(dir)}, 0)
      for (let round = 0; round < 5; round++) {
        for (let n = 0; n < 40; n++) {
          const content = Buffer.from(String(n).repeat(2000 + n))
          const id = objectId('blob', content)
          const before = await store.readBlob(id)
          if (before && !content.equals(before)) process.exit(3)
          await store.writeBlob(id, content)
          if (!content.equals(await store.readBlob(id))) process.exit(4)
        }
      }`
    const run = () =>
      once(spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' }), 'exit')
    expect(await Promise.all([run(), run()])).toEqual([
      [0, null],
      [0, null],
    ])
    const files = globSync(`${dir}/blobs/*/*`)
    expect(files).toHaveLength(40)
    expect(files.filter(file => file.endsWith('.tmp'))).toEqual([])
  })
})

test('MemoryCache forgets the least recently used first and never holds more than allowed', () => {
  const cache = new MemoryCache<string>(10)
  cache.set('a', 'a', 4)
  cache.set('b', 'b', 4)
  cache.get('a')
  cache.set('c', 'c', 4)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['a', undefined, 'c'])
  cache.set('big', 'big', 11)
  expect(cache.get('big')).toBeUndefined()
  cache.set('a', 'A', 10)
  expect([cache.get('a'), cache.get('c')]).toEqual(['A', undefined])
})

test.each([
  [['a', 'a'], 'twice'],
  [['a', 'a/b'], 'a file and a directory'],
  [['x/y', 'x/y/z/w'], 'a file and a directory'],
  [['a/../b'], 'component ".."'],
  [['./a'], 'component "."'],
  [['a//b'], 'empty component'],
  [['/a'], 'empty component'],
  [['a/.Git/config'], 'component ".git"'],
  [['a\0b'], 'NUL'],
  [['\ufffd'], 'UTF-8'],
  [[`${'x'.repeat(4097)}`], 'longer'],
])('checkPaths refuses %j', (paths, why) => {
  const entries = paths.map(path => ({ path }))
  expect(() => checkPaths('acme/fleet', entries)).toThrow(why)
})

test('checkPaths takes names that are merely unusual', () => {
  const entries = ['a b', '-rf', '..a', '.gitignore', 'a\nb', 'ü', 'A', 'a', 'con', '__proto__/x', 'a.b/c', 'a/b'].map(
    path => ({ path }),
  )
  expect(() =>
    checkPaths(
      'acme/fleet',
      entries.filter(entry => entry.path !== 'a'),
    ),
  ).not.toThrow()
})
