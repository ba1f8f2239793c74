import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diskTree, readFolder } from '../../../src/git/folder-tree.ts'
import { openSnapshot, type Tree } from '../../../src/git/tree.ts'
import { scratch, write } from '../../surface/cli/run-main.ts'

function* everything(tree: Tree, directory = ''): Generator<unknown> {
  for (const { name, path, type, id } of tree.list(directory)) {
    yield { name, path, type, id }
    if (type === 'directory') yield* everything(tree, path)
    else yield Buffer.from(tree.read(path)).toString()
  }
}

test('is what a snapshot of the folder is, ids included', async () => {
  const folder = write(scratch(), { 'a/b.yaml': 'x', 'a/c/d.yaml': 'y', 'a.yaml': 'z', '.git/config': '', é: '' })
  symlinkSync('/etc', join(folder, 'a', 'link'))
  const disk = diskTree(folder)
  const snapshot = openSnapshot(await readFolder(folder))
  expect([...everything(disk)]).toEqual([...everything(snapshot)])
  expect(disk.id).toBe(snapshot.id)
  expect(disk.entry('')?.type).toBe('directory')
})

test('follows no link, takes no other spelling of a path, and sees no pipe', () => {
  const folder = write(scratch(), { 'real/a': 'x', '.git/config': '' })
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const tree = diskTree(folder)
  for (const path of [
    'link/a',
    'real/../real/a',
    './real/a',
    'real/',
    '/real',
    '..',
    '.git',
    '.git/config',
    'pipe',
    'a\0b',
  ]) {
    expect(tree.entry(path), path).toBeUndefined()
    expect(tree.list(path), path).toEqual([])
    expect(() => tree.read(path), path).toThrow(expect.objectContaining({ code: 'git-missing' }))
  }
  expect(Buffer.from(tree.read('link')).toString()).toBe(join(folder, 'real'))
})

test('refuses a file that is too large before it is read', () => {
  const folder = scratch()
  mkdirSync(join(folder, 'a'))
  writeFileSync(join(folder, 'a', 'big'), '')
  truncateSync(join(folder, 'a', 'big'), 10 * 2 ** 30)
  expect(() => diskTree(folder).read('a/big')).toThrow(expect.objectContaining({ code: 'render-limits' }))
})

test('asks the disk only for what it is asked for', () => {
  const tree = diskTree('/')
  expect(tree.entry('etc')?.type).toBe('directory')
  expect(tree.entry('etc/no-such-file')).toBeUndefined()
})
