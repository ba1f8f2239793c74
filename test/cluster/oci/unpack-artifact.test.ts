import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { unpackArtifact } from '../../../src/cluster/registry.ts'
import { openSnapshot } from '../../../src/git/tree.ts'
import { archiveOf } from './archive-of.ts'

type Entries = Parameters<typeof archiveOf>[0]

const unpacked = async (entries: Entries, limits = { files: 5, bytes: 2000 }) => {
  const { entries: files } = await unpackArtifact('oci://r/a', await archiveOf(entries), limits)
  return files.map(({ path, mode }) => `${mode} ${path}`)
}

test('files are read, with their text; folders and symlinks are left out as Flux leaves them out', async () => {
  const entries: Entries = [
    { name: './', type: 'directory' },
    { name: './apps/', type: 'directory' },
    { name: './apps/web.yaml', content: 'kind: ConfigMap\n' },
    { name: 'run.sh', content: '#!/bin/sh\n', mode: 0o755 },
    { name: 'link', type: 'symlink', linkname: '/etc/passwd' },
  ]
  expect(await unpacked(entries)).toEqual(['100644 apps/web.yaml', '100755 run.sh'])
  const tree = openSnapshot(await unpackArtifact('a', await archiveOf(entries)))
  expect(Buffer.from(tree.read('apps/web.yaml')).toString()).toBe('kind: ConfigMap\n')
})

test.each<[string, Entries, string]>([
  ['up and out', [{ name: '../x', content: 'x' }], 'source-unreadable'],
  ['up in the middle', [{ name: 'a/../../x', content: 'x' }], 'source-unreadable'],
  ['absolute', [{ name: '/etc/x', content: 'x' }], 'source-unreadable'],
  ['backslash', [{ name: 'a\\..\\x', content: 'x' }], 'source-unreadable'],
  ['dot segment', [{ name: 'a/./x', content: 'x' }], 'git-ambiguous'],
  ['of git itself', [{ name: '.git/config', content: 'x' }], 'git-ambiguous'],
  [
    'twice',
    [
      { name: 'x', content: '1' },
      { name: './x', content: '2' },
    ],
    'git-ambiguous',
  ],
  [
    'file and folder',
    [
      { name: 'x', content: '1' },
      { name: 'x/y', content: '2' },
    ],
    'git-ambiguous',
  ],
  [
    'hard link',
    [
      { name: 'a', content: 'x' },
      { name: 'b', type: 'link', linkname: 'a' },
    ],
    'source-unreadable',
  ],
  ['device', [{ name: 'null', type: 'character-device' }], 'source-unreadable'],
  ['pipe', [{ name: 'pipe', type: 'fifo' }], 'source-unreadable'],
])('what Flux refuses, or two readers take differently: %s', async (_, entries, code) => {
  await expect(unpacked(entries)).rejects.toMatchObject({ code })
})

test('limits hold to the entry and to the byte, links and folders included', async () => {
  const files = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `f${index}`, content: 'x' }))
  expect(await unpacked(files(5))).toHaveLength(5)
  await expect(unpacked(files(6))).rejects.toMatchObject({ code: 'render-limits' })
  const folders = Array.from({ length: 6 }, (_, index) => ({ name: `d${index}/`, type: 'directory' as const }))
  await expect(unpacked(folders)).rejects.toMatchObject({ code: 'render-limits' })
  expect(await unpacked([{ name: 'x', content: 'x'.repeat(2000) }])).toHaveLength(1)
  await expect(unpacked([{ name: 'x', content: 'x'.repeat(2001) }])).rejects.toMatchObject({ code: 'render-limits' })
})

test('a bomb is stopped while it unpacks', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20))
  await expect(unpackArtifact('a', bomb, { files: 5, bytes: 2000 })).rejects.toMatchObject({ code: 'render-limits' })
  const large = await archiveOf([{ name: 'x', content: 'x'.repeat(32 * 2 ** 20) }])
  await expect(unpackArtifact('a', large, { files: 5, bytes: 2000 })).rejects.toMatchObject({ code: 'render-limits' })
})

test.each([
  ['no gzip', Buffer.from('hello')],
  ['no tar', gzipSync('hello')],
  ['half of one', (await archiveOf([{ name: 'x', content: 'x'.repeat(900) }])).subarray(0, 60)],
])('what is not an archive is refused: %s', async (_, bytes) => {
  await expect(unpackArtifact('a', bytes)).rejects.toMatchObject({ code: 'source-unreadable' })
})
