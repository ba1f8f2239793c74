import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkIdOf } from '../../../src/surface/pages/page-address.ts'
import { PageStore } from '../../../src/surface/pages/page-store.ts'
import { openTtlStore, type TtlStore, type TtlStoreLimits } from '../../../src/surface/pages/ttl-store.ts'
import { Sessions } from '../../../src/surface/web/sign-in.ts'
import { CHECK_NAME, checkNameOf } from '../../../src/verdict/check-names.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { hasRedis, startRedis, type TestRedis } from '../../workers/queue/start-redis.ts'
import { SHA, sampleFleet, samplePage } from '../web/sample-pages.ts'

const WEEK = 7 * 86_400_000
const bytes = (size: number) => Buffer.alloc(size, 1)

/** What every shelf promises. */
function shelfContract(title: string, open: (limits: TtlStoreLimits) => TtlStore): void {
  describe(title, () => {
    const shelves: TtlStore[] = []
    const opened = (limits: Partial<TtlStoreLimits> = {}): TtlStore => {
      const shelf = open({ ttlMs: WEEK, maxBytes: 1_000, ...limits })
      shelves.push(shelf)
      return shelf
    }
    afterAll(() => Promise.all(shelves.map(shelf => shelf.close())))

    test('gives back the bytes, whatever they are, until they are replaced or deleted', async () => {
      const shelf = opened()
      const odd = Buffer.from([0, 255, 10, 195, 40])
      await shelf.put('a', odd, 'first')
      expect(await shelf.get('a')).toEqual(odd)
      await shelf.put('a', bytes(3), 'second')
      expect(await shelf.get('a')).toEqual(bytes(3))
      await shelf.delete('a')
      await shelf.delete('never')
      expect(await shelf.get('a')).toBeUndefined()
      expect(await shelf.notes(10)).toEqual([])
    })

    test('lists the newest first', async () => {
      const shelf = opened()
      for (const key of ['a', 'b', 'c', 'a']) {
        await shelf.put(key, bytes(1), `note of ${key}`)
        await sleep(2)
      }
      expect(await shelf.notes(2)).toEqual([
        { key: 'a', note: 'note of a' },
        { key: 'c', note: 'note of c' },
      ])
    })

    test('never holds more than it may: the oldest goes first', async () => {
      const shelf = opened()
      for (const key of ['a', 'b', 'c', 'd']) {
        await shelf.put(key, bytes(300))
        await sleep(2)
      }
      expect(await shelf.get('a')).toBeUndefined()
      expect(await shelf.get('b')).toBeDefined()
      await shelf.put('e', bytes(900))
      expect((await shelf.notes(10)).map(({ key }) => key)).toEqual(['e'])
    })

    test('what alone is too much replaces nothing but itself', async () => {
      const shelf = opened()
      await shelf.put('a', bytes(300))
      await shelf.put('b', bytes(300))
      await shelf.put('a', bytes(1_001))
      expect(await shelf.get('a')).toBeUndefined()
      expect(await shelf.get('b')).toBeDefined()
    })

    test('counts what was replaced and deleted only once', async () => {
      const shelf = opened()
      for (let round = 0; round < 20; round++) await shelf.put('same', bytes(900))
      await shelf.delete('same')
      await shelf.put('a', bytes(500))
      await shelf.put('b', bytes(500))
      expect((await shelf.notes(10)).map(({ key }) => key).sort()).toEqual(['a', 'b'])
    })

    test('forgets what is old', async () => {
      const shelf = opened({ ttlMs: 120 })
      await shelf.put('a', bytes(300))
      await sleep(150)
      expect(await shelf.get('a')).toBeUndefined()
      expect(await shelf.notes(10)).toEqual([])
      for (const key of ['b', 'c', 'd']) await shelf.put(key, bytes(300))
      expect(await shelf.notes(10)).toHaveLength(3)
    })

    test('keeps pages: by names without case, one per check of a commit', async () => {
      const store = new PageStore(opened({ maxBytes: 1_000_000 }))
      const page = samplePage({ repositoryId: 7 })
      expect(await store.keep(page)).toBe(true)
      await sleep(2)
      expect(await store.keep(sampleFleet())).toBe(true)
      const plain = checkIdOf(CHECK_NAME)
      expect(await store.check('ACME', 'Fleet', SHA, plain)).toEqual(JSON.parse(JSON.stringify(page)))
      expect(await store.check('acme', 'fleet', 'b'.repeat(40), plain)).toBeUndefined()
      expect(await store.check('acme', 'fleet', SHA, checkIdOf(checkNameOf('main')))).toBeUndefined()
      expect(await store.fleet('acme', 'other')).toBeUndefined()
      const place = { owner: 'acme', repo: 'fleet', at: page.at }
      const { title, conclusion } = page
      expect(await store.list()).toEqual([
        { ...place, kind: 'fleet' },
        {
          ...place,
          kind: 'check',
          repositoryId: 7,
          sha: SHA,
          path: `/checks/acme/fleet/${SHA}`,
          check: CHECK_NAME,
          title,
          conclusion,
        },
      ])
    })

    test('keeps the pull requests of a fleet, and does not list them as a page', async () => {
      const store = new PageStore(opened({ maxBytes: 1_000_000 }))
      const place = { owner: 'acme', repo: 'fleet' }
      const pulls = { ...place, repositoryId: 7, rows: [], left: 2, listedAt: '2026-11-23T10:00:00.000Z' }
      const lists = [{ ...place, url: 'https://github.com/acme/fleet' }]
      await store.keepPulls(pulls)
      await store.keepPullLists(5, lists)
      expect(await store.pulls('ACME', 'Fleet')).toEqual(pulls)
      expect([await store.pullLists(5), await store.pullLists(6)]).toEqual([lists, []])
      expect(await store.pulls('acme', 'other')).toBeUndefined()
      expect(await store.list()).toEqual([])
    })

    test('keeps sessions so that the store alone gives nobody in', async () => {
      const shelf = opened({ maxBytes: 1_000_000 })
      const seen: Buffer[] = []
      const watched: TtlStore = {
        put: (key, value, note) => {
          seen.push(Buffer.from(key), value)
          return shelf.put(key, value, note)
        },
        get: key => shelf.get(key),
        delete: key => shelf.delete(key),
        notes: most => shelf.notes(most),
        close: () => shelf.close(),
      }
      const sessions = new Sessions(watched)
      const session = { login: 'ada-of-acme', token: 'ghu_secret', until: Date.now() + 60_000 }
      const id = await sessions.open(session)
      expect(await sessions.find(id)).toEqual(session)
      const stored = Buffer.concat(seen).toString('latin1')
      for (const secret of ['ghu_secret', 'ada-of-acme', id]) expect(stored).not.toContain(secret)
      expect(await sessions.find(`${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}`)).toBeUndefined()
      await sessions.end(id)
      expect(await sessions.find(id)).toBeUndefined()
    })
  })
}

const rest = { prefix: 'test', name: 'pages', log: silentLog }
shelfContract('a shelf in this process', limits => openTtlStore({ ...limits, ...rest, redisUrl: undefined }))

describe.skipIf(!hasRedis)('on a real Redis', () => {
  let redis: TestRedis
  let count = 0
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  shelfContract('a shelf', limits => openTtlStore({ ...limits, ...rest, prefix: `p${++count}`, redisUrl: redis.url }))

  test('two processes share one, and nothing outlives its time', async () => {
    const open = () => openTtlStore({ ttlMs: WEEK, maxBytes: 1_000, ...rest, prefix: 'shared', redisUrl: redis.url })
    const [one, other] = [open(), open()]
    await Promise.all(Array.from({ length: 50 }, (_, at) => (at % 2 ? one : other).put(`k${at}`, bytes(90))))
    expect((await one.notes(100)).length).toBe(11)
    const client = new Redis(redis.url)
    const keys = await client.keys('*shared*')
    expect(keys.length).toBe(11 + 3)
    for (const key of keys) expect(await client.pttl(key), key).toBeGreaterThan(WEEK - 60_000)
    client.disconnect()
    await Promise.all([one.close(), other.close()])
  })

  test('a Redis that is gone is an error soon, not a wait', async () => {
    const gone = openTtlStore({ ttlMs: WEEK, maxBytes: 1_000, ...rest, redisUrl: 'redis://127.0.0.1:1' })
    const started = performance.now()
    await expect(gone.get('a')).rejects.toThrow()
    expect(performance.now() - started).toBeLessThan(3_000)
    await gone.close()
  })
})
