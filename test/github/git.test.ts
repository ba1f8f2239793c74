import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import tar from 'tar-stream'
import { expect, test } from 'vitest'
import { packSnapshot } from '../../src/git/tree.ts'
import { archive } from '../../tools/github/git/archive.ts'
import { diffTrees } from '../../tools/github/git/diff.ts'
import { isAncestor, log, mergeBase } from '../../tools/github/git/graph.ts'
import { mergeLines } from '../../tools/github/git/merge-lines.ts'
import { mergeTrees } from '../../tools/github/git/merge-trees.ts'
import { ObjectStore } from '../../tools/github/git/store.ts'
import { type FileContent, flatten, putFile, writeTree } from '../../tools/github/git/trees.ts'

const WHO = { name: 'A', email: 'a@b.c', date: '2026-01-02T03:04:05Z' }

function tree(store: ObjectStore, files: Record<string, FileContent>): string {
  return writeTree(store, new Map(Object.entries(files).map(([path, content]) => [path, putFile(store, content)])))
}

function commit(store: ObjectStore, parents: string[], message: string, files: Record<string, FileContent> = {}) {
  return store.putCommit({ tree: tree(store, files), parents, author: WHO, committer: WHO, message })
}

test('ids are those of git', () => {
  const store = new ObjectStore()
  expect(store.put('blob', Buffer.from('hello\n'))).toBe('ce013625030ba8dba906f756967f9e9ca394464a')
  expect(tree(store, {})).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904')
  const files = { 'a.b': '1', 'a/b': '2', 'a/c/d': '3', a0: '4', 'z/ä': '5' }
  const snapshot = packSnapshot(Object.entries(files).map(([path, content]) => ({ path, content })))
  expect(tree(store, files)).toBe(snapshot.id)
})

test('a commit has the id that git gives it, and reads back as it was written', () => {
  const store = new ObjectStore()
  const sha = commit(store, [], 'one\n\ntwo\n')
  const text = `tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@b.c> 1767323045 +0000\ncommitter A <a@b.c> 1767323045 +0000\n\none\n\ntwo\n`
  expect(store.put('commit', Buffer.from(text))).toBe(sha)
  expect(store.commit(sha)).toEqual({
    sha,
    tree: tree(store, {}),
    parents: [],
    author: WHO,
    committer: WHO,
    message: 'one\n\ntwo\n',
  })
})

test.each([
  ['both sides', '1\n2\n3\n4\n', 'A\n2\n3\n4\n', '1\n2\n3\nB\n', 'A\n2\n3\nB\n'],
  ['one side', '1\n', '1\n', '2\n', '2\n'],
  ['the same change once', '1\n2\n3\n', '1\nx\n3\n', '1\nx\n3\n', '1\nx\n3\n'],
  ['one line between', '1\n2\n3\n', 'A\n2\n3\n', '1\n2\nB\n', 'A\n2\nB\n'],
  ['touching', '1\n2\n', 'A\n2\n', '1\nB\n', undefined],
  ['the same line', '1\n2\n3\n', '1\nx\n3\n', '1\ny\n3\n', undefined],
  ['both at the end', '1\n', '1\n2\n', '1\n3\n', undefined],
  ['the last newline', '1\n2\n3\n4', '0\n2\n3\n4', '1\n2\n3\n4\n', '0\n2\n3\n4\n'],
])('merging lines: %s', (_, base, ours, theirs, merged) => {
  expect(mergeLines(base, ours, theirs)).toBe(merged)
})

const hasGit = spawnSync('git', ['--version']).status === 0
if (!hasGit) console.log('no git here: merging is not compared with it')

test.runIf(hasGit)('merging lines agrees with git merge-file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'merge-'))
  const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n'), { maxLength: 6 }).map(lines => lines.join(''))
  // distinct lines leave only one way to match them, so that two honest algorithms must agree
  const distinct = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 8 })
  const edits = fc.tuple(distinct, fc.array(fc.nat(9), { maxLength: 3 }), fc.array(fc.nat(9), { maxLength: 3 }), text)
  const edit = (lines: string[], at: number[], added: string) =>
    lines.map((line, i) => (at.includes(i) ? `${line.trim()}${added.replaceAll('\n', '')}\n` : line)).join('')
  const property = fc.property(edits, ([numbers, ours, theirs, added]) => {
    const base = numbers.map(number => `line ${number}\n`)
    const texts = [edit(base, ours, `x${added}`), base.join(''), edit(base, theirs, `y${added}`)]
    for (const [i, content] of texts.entries()) writeFileSync(join(directory, String(i)), content)
    const git = spawnSync('git', ['merge-file', '-p', '--', '0', '1', '2'], { cwd: directory, encoding: 'utf8' })
    expect(mergeLines(texts[1]!, texts[0]!, texts[2]!)).toBe(git.status === 0 ? git.stdout : undefined)
  })
  try {
    fc.assert(property, { numRuns: 150 })
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('merging trees: adds, deletions and modes of both sides; a file where the other makes a directory', () => {
  const store = new ObjectStore()
  const base = tree(store, { keep: '1', gone: '2', 'dir/x': '3' })
  const ours = tree(store, { keep: { mode: '100755', content: '1' }, 'dir/x': '3', mine: 'm', gone: '2' })
  const theirs = tree(store, { keep: '1', 'dir/x': '4', 'dir/y': '5' })
  const merged = mergeTrees(store, base, ours, theirs)
  const wanted = tree(store, { keep: { mode: '100755', content: '1' }, 'dir/x': '4', 'dir/y': '5', mine: 'm' })
  expect(merged).toEqual({ tree: wanted })
  const clash = mergeTrees(
    store,
    base,
    tree(store, { keep: '1', gone: '2', 'dir/x': '3', new: 'file' }),
    tree(store, { keep: '1', gone: '2', 'dir/x': '3', 'new/y': 'z' }),
  )
  expect(clash).toEqual({ conflicts: ['new'] })
  const binary = (text: string) => tree(store, { bin: Buffer.from(`\0${text}`) })
  expect(mergeTrees(store, binary('a'), binary('b'), binary('c'))).toEqual({ conflicts: ['bin'] })
})

test('bytes that are not UTF-8 survive a merge', () => {
  const store = new ObjectStore()
  const file = (first: string, last: string) => tree(store, { f: Buffer.from(`${first}\n\xff\n\n${last}\n`, 'latin1') })
  const merged = mergeTrees(store, file('a', 'b'), file('A', 'b'), file('a', 'B'))
  expect(merged).toEqual({ tree: file('A', 'B') })
})

test('the graph: merge base, ancestors, and a log with children before parents', () => {
  const store = new ObjectStore()
  const root = commit(store, [], 'root')
  const [left, right] = [commit(store, [root], 'left'), commit(store, [root], 'right')]
  const merged = commit(store, [left, right], 'merged')
  const later = commit(store, [right], 'later')
  expect(mergeBase(store, left, right)).toBe(root)
  expect(mergeBase(store, merged, later)).toBe(right)
  expect(mergeBase(store, merged, left)).toBe(left)
  expect(mergeBase(store, root, commit(store, [], 'unrelated'))).toBeUndefined()
  expect(isAncestor(store, root, merged)).toBe(true)
  expect(isAncestor(store, merged, root)).toBe(false)
  const order = log(store, merged).map(each => each.message)
  expect(order[0]).toBe('merged')
  expect(order.at(-1)).toBe('root')
  expect(log(store, merged, left).map(each => each.message)).toEqual(['merged', 'right'])
})

test('a diff has the hunks that git prints', () => {
  const store = new ObjectStore()
  const lines = (change: Record<number, string>) => Array.from({ length: 20 }, (_, i) => `${change[i] ?? i}\n`).join('')
  const [change] = diffTrees(store, tree(store, { f: lines({}) }), tree(store, { f: lines({ 1: 'one', 15: 'x' }) }))
  expect(change).toMatchObject({ path: 'f', status: 'modified', additions: 2, deletions: 2 })
  const hunk = (head: string, ...body: string[]) => [head, ...body].join('\n')
  expect(change!.patch).toBe(
    [
      hunk('@@ -1,5 +1,5 @@', ' 0', '-1', '+one', ' 2', ' 3', ' 4'),
      hunk('@@ -13,7 +13,7 @@', ' 12', ' 13', ' 14', '-15', '+x', ' 16', ' 17', ' 18'),
    ].join('\n'),
  )
})

async function unpack(gzipped: Uint8Array) {
  const found = new Map<string, { type: string; text: string; link: string | undefined }>()
  const extract = tar.extract()
  Readable.from([gunzipSync(gzipped)]).pipe(extract)
  for await (const entry of extract) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    const { name, type, linkname } = entry.header
    found.set(name, { type: type ?? '', text: Buffer.concat(chunks).toString(), link: linkname ?? undefined })
  }
  return found
}

test('an archive: one top directory, modes, links, long names, and no export-ignored file', async () => {
  const store = new ObjectStore()
  const long = `${'d'.repeat(90)}/${'e'.repeat(90)}/${'f'.repeat(120)}`
  const sha = commit(store, [], 'm', {
    ...{ 'a.yaml': 'a: 1\n', 'secret/x': 's', 'deep/notes.md': 'n', 'deep/kept.md': 'k', [long]: 'long' },
    '.gitattributes': 'secret export-ignore\n*.md export-ignore\n# c\n[attr]x y\n*.yaml text\n',
    'deep/.gitattributes': 'kept.md -export-ignore\n',
    run: { mode: '100755', content: '#!/bin/sh\n' },
    link: { mode: '120000', content: 'a.yaml' },
    sub: { mode: '160000', content: '1'.repeat(40) },
  })
  const found = await unpack(archive(store, sha, 'top'))
  expect([...found.keys()].sort()).toEqual(
    [
      ...['top/', 'top/.gitattributes', 'top/a.yaml', 'top/deep/', 'top/deep/.gitattributes', 'top/deep/kept.md'],
      ...['top/link', 'top/run', 'top/sub/', `top/${long}`, `top/${'d'.repeat(90)}/`],
      `top/${'d'.repeat(90)}/${'e'.repeat(90)}/`,
    ].sort(),
  )
  expect(found.get(`top/${long}`)?.text).toBe('long')
  expect(found.get('top/link')).toMatchObject({ type: 'symlink', link: 'a.yaml' })
  expect(flatten(store, store.commit(sha)!.tree).has('secret/x')).toBe(true)
})
