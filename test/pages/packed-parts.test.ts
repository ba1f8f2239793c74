import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openFleet, packFleet } from '../../src/pages/fleet-parts.ts'
import { MemoryShelf } from '../../src/pages/memory-shelf.ts'
import { OpenedPages } from '../../src/pages/opened-pages.ts'
import { openParts, packParts } from '../../src/pages/packed-parts.ts'
import { PAGE_LIMITS, PageStore } from '../../src/pages/page-store.ts'
import type { FleetPage } from '../../src/report/page/fleet-page.ts'
import { largeFleet } from '../report/page/large-fleet.ts'
import { sampleFleet } from '../web/sample-pages.ts'

const MB = 1024 * 1024

test('every part is what was packed, and is parsed once', async () => {
  const { page } = largeFleet(30)
  const bytes = await packFleet(page)
  const opened = openFleet(openParts(bytes ?? Buffer.alloc(0)))
  expect(JSON.parse(JSON.stringify(opened))).toEqual(JSON.parse(JSON.stringify(page)))
  expect(opened.findings).toBe(opened.findings)
})

test('a page without the optional lists is the same without them', async () => {
  const { findings: _findings, policies: _policies, ...rest } = sampleFleet()
  const bytes = await packFleet(rest as FleetPage)
  expect(JSON.parse(JSON.stringify(openFleet(openParts(bytes!))))).toEqual(JSON.parse(JSON.stringify(rest)))
})

test('what is not looked at is not read: a damaged part harms only itself', async () => {
  const bytes = (await packParts([
    ['one', { a: 1 }],
    ['__proto__', ['b']],
    ['last', 'c'.repeat(1_000)],
  ]))!
  bytes.fill(0, bytes.length - 10)
  const { read } = openParts(bytes)
  expect([read('one'), read('__proto__')]).toEqual([{ a: 1 }, ['b']])
  expect(() => read('last')).toThrow()
  expect(() => read('toString')).toThrow('no part toString')
})

test('logins in addresses are not stored', async () => {
  const bytes = (await packParts([['one', 'https://user:pass@github.com/acme/x']]))!
  expect(openParts(bytes).read('one')).toBe('https://***@github.com/acme/x')
})

test('a part of 16 MiB is packed, and one byte more is refused', async () => {
  const most = 'x'.repeat(16 * MB - 2)
  expect(openParts((await packParts([['one', most]]))!).read('one')).toBe(most)
  expect(await packParts([['one', `${most}x`]])).toBeUndefined()
})

test('a page of a fleet that packs to more than 8 MiB is not kept, and the one before stays', async () => {
  const store = new PageStore(new MemoryShelf(PAGE_LIMITS))
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
