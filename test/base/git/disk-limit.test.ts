import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DiskLimit } from '../../../src/git/disk-limit.ts'
import { ObjectStore } from '../../../src/git/object-store.ts'
import { objectId } from '../../../src/git/tree.ts'
import { temporaryFolder } from './temporary-folder.ts'

const BLOCK = 4_096
const HOUR = 3_600
const NOW = Date.now() / 1_000

/** Writes files of one block each, the first used longest ago. */
function fill(dir: string, count: number): string[] {
  const names = Array.from({ length: count }, (_, at) => String(at).padStart(3, '0'))
  mkdirSync(join(dir, 'blobs'))
  for (const [at, name] of names.entries()) {
    const file = join(dir, 'blobs', name)
    writeFileSync(file, 'x')
    utimesSync(file, NOW - (count - at) * HOUR, NOW - (count - at) * HOUR)
  }
  return names
}

const left = (dir: string) => readdirSync(join(dir, 'blobs')).sort()

test('below the limit, everything stays', async () => {
  const dir = temporaryFolder()
  const names = fill(dir, 90)
  await new DiskLimit(dir, 100 * BLOCK).wrote(1)
  expect(left(dir)).toEqual(names)
})

test('beyond it, what was used least recently goes until a fifth is free, also what an earlier process left', async () => {
  const dir = temporaryFolder()
  const names = fill(dir, 150)
  // read a moment ago, written long ago
  utimesSync(join(dir, 'blobs', '000'), NOW - HOUR / 2, NOW - 200 * HOUR)
  await new DiskLimit(dir, 100 * BLOCK).wrote(1)
  expect(left(dir)).toEqual(['000', ...names.slice(71)])
})

test('what was written within a minute stays, because its writer reads it next', async () => {
  const dir = temporaryFolder()
  fill(dir, 0)
  for (let at = 0; at < 150; at++) writeFileSync(join(dir, 'blobs', `new-${at}`), 'x')
  await new DiskLimit(dir, 100 * BLOCK).wrote(1)
  expect(left(dir)).toHaveLength(150)
})

test('a store that is written for hours never holds more than its limit, and reads what it still has', async () => {
  const dir = temporaryFolder()
  const [maxBytes, ids] = [400 * BLOCK, [] as string[]]
  const store = new ObjectStore(dir, 0, { diskBytes: maxBytes })
  let most = 0
  for (let at = 0; at < 1_000; at++) {
    const content = Buffer.from(`content ${at}`)
    const id = objectId('blob', content)
    await store.writeBlob(id, content)
    ids.push(id)
    const file = join(dir, 'blobs', id.slice(0, 2), id.slice(2))
    // as if a minute passed between two writes
    utimesSync(file, NOW - (1_001 - at) * 61, NOW - (1_001 - at) * 61)
    if (at % 50 === 0) most = Math.max(most, usedBy(dir))
  }
  expect(most).toBeLessThanOrEqual(maxBytes)
  expect(usedBy(dir)).toBeGreaterThan(maxBytes / 2)
  expect(await store.readBlob(ids[0]!)).toBeUndefined()
  expect(await store.readBlob(ids.at(-1)!)).toBeDefined()
})

function usedBy(dir: string): number {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => {
    return sum + Math.ceil(statSync(join(parentPath, name)).size / BLOCK) * BLOCK
  }, 0)
}
