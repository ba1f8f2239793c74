import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { OpenedPages, PAGE_LIMITS, PageStore } from '../../../src/surface/pages/page-store.ts'
import { MemoryTtlStore } from '../../../src/surface/pages/ttl-store.ts'
import { largeFleet } from '../../report/page/large-fleet.ts'
import { sampleFleet } from '../web/sample-pages.ts'

const MB = 1024 * 1024

test('a page is what was kept, and is parsed once; logins in addresses are not stored', async () => {
  const store = new PageStore(new MemoryTtlStore(PAGE_LIMITS))
  const { page } = largeFleet(30)
  expect(
    await store.keep({ ...page, owner: 'acme', repo: 'fleet', assumed: 'https://user:pass@github.com/acme/x' }),
  ).toBe(true)
  const opened = await store.fleet('acme', 'fleet')
  const expected = { ...page, owner: 'acme', repo: 'fleet', assumed: 'https://***@github.com/acme/x' }
  expect(opened).toEqual(JSON.parse(JSON.stringify(expected)))
  expect(await store.fleet('acme', 'fleet')).toBe(opened)
})

test('a page of a fleet that packs to more than 8 MiB is not kept, and the one before stays', async () => {
  const store = new PageStore(new MemoryTtlStore(PAGE_LIMITS))
  const page = { ...sampleFleet(), assumed: 'before' }
  expect(await store.keep(page)).toBe(true)
  const noise = (megabytes: number) => randomBytes(megabytes * MB).toString('base64')
  expect(await store.keep({ ...page, assumed: noise(7) })).toBe(true)
  expect(await store.keep({ ...page, assumed: noise(9) })).toBe(false)
  expect((await store.fleet('acme', 'fleet'))?.assumed).toHaveLength(Math.ceil((7 * MB) / 3) * 4)
})

test('what was opened is used as long as the store holds the same bytes', async () => {
  const pages = new OpenedPages()
  let opened = 0
  const open = (key: string, text: string, size = 1) =>
    pages.open(key, Buffer.from(text), async () => ({ value: { text, number: ++opened }, size }))
  expect(await open('a', 'one')).toBe(await open('a', 'one'))
  expect(await open('a', 'two')).toEqual({ text: 'two', number: 2 })
  expect(await open('b', 'two')).toEqual({ text: 'two', number: 3 })
})

test('of more than 64 MiB of text the values that were used longest ago are dropped', async () => {
  const pages = new OpenedPages()
  let opened = 0
  const open = (key: string, size: number) => pages.open(key, Buffer.from(key), async () => ({ value: ++opened, size }))
  await open('a', 32 * MB)
  await open('b', 32 * MB)
  expect([await open('a', 32 * MB), await open('b', 32 * MB)]).toEqual([1, 2])
  await open('c', 1)
  expect([await open('b', 32 * MB), await open('c', 1), await open('a', 32 * MB)]).toEqual([2, 3, 4])
  // larger than all: it is shown, and not held
  expect([await open('d', 65 * MB), await open('d', 65 * MB)]).toEqual([5, 6])
})

test('a failed opening is tried again', async () => {
  const pages = new OpenedPages()
  const bytes = Buffer.from('a')
  await expect(pages.open('a', bytes, () => Promise.reject(new Error('damaged')))).rejects.toThrow('damaged')
  expect(await pages.open('a', bytes, async () => ({ value: 1, size: 1 }))).toBe(1)
})
