import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAX_WAITING, type Outbox, openOutbox } from '../../../src/receive/outbox.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { decision } from '../../verdict/trail/decisions.ts'
import { hasRedis, startRedis, type TestRedis } from '../queue/start-redis.ts'

const place = (repo: string) => ({ installation: 7, owner: 'acme', repo })
const HEAD = { seq: 2, hash: 'b'.repeat(64) }

function contract(title: string, open: () => Outbox): void {
  describe(title, () => {
    let outbox: Outbox
    beforeAll(() => {
      outbox = open()
    })
    afterAll(() => outbox.close())

    test('gives decisions in the order in which they came, until they are written', async () => {
      for (const number of [1, 2, 3]) await outbox.add(place('order'), decision(number))
      expect(await outbox.waiting(place('order'), 2)).toEqual({ decisions: [decision(1), decision(2)], lost: 0 })
      expect(await outbox.head(place('order'))).toBeUndefined()
      await outbox.written(place('order'), { count: 2, lost: 0, head: HEAD })
      expect(await outbox.waiting(place('ORDER'), 10)).toEqual({ decisions: [decision(3)], lost: 0 })
      expect(await outbox.head(place('order'))).toEqual(HEAD)
    })

    test('adds what happens once a single time, however often it is reported', async () => {
      const once = place('once')
      expect(await outbox.add(once, decision(1), true)).toBe(true)
      expect(await outbox.add(once, decision(1), true)).toBe(false)
      expect(await outbox.add(place('once-more'), decision(1), true)).toBe(true)
      expect(await outbox.add(once, decision(1))).toBe(true)
      expect((await outbox.waiting(once, 10)).decisions).toHaveLength(2)
    })

    test('notes since which incident nothing is written', async () => {
      expect(await outbox.stopped(place('stopped'))).toBeUndefined()
      await outbox.stop(place('stopped'), 'abc')
      expect(await outbox.stopped(place('Stopped'))).toBe('abc')
      expect(await outbox.stopped(place('other'))).toBeUndefined()
      await outbox.stop(place('stopped'), undefined)
      expect(await outbox.stopped(place('stopped'))).toBeUndefined()
    })

    test('keeps fleets and installations apart', async () => {
      await outbox.add(place('mine'), decision(1))
      expect((await outbox.waiting(place('yours'), 10)).decisions).toEqual([])
      expect((await outbox.waiting({ ...place('mine'), installation: 8 }, 10)).decisions).toEqual([])
    })

    test('counts what comes when too many are waiting', async () => {
      const full = place('full')
      for (let start = 0; start < MAX_WAITING; start += 500) {
        await Promise.all(Array.from({ length: 500 }, (_, at) => outbox.add(full, decision(start + at + 1))))
      }
      expect((await outbox.waiting(full, MAX_WAITING + 1)).lost).toBe(0)
      await outbox.add(full, decision(0))
      const { decisions, lost } = await outbox.waiting(full, MAX_WAITING + 1)
      expect([decisions.length, lost]).toEqual([MAX_WAITING, 1])
      await outbox.written(full, { count: MAX_WAITING, lost: 1, head: HEAD })
      expect(await outbox.waiting(full, 1)).toEqual({ decisions: [], lost: 0 })
    })
  })
}

contract('in this process', () => openOutbox({ redisUrl: undefined }, silentLog))

describe.skipIf(!hasRedis)('Redis', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.stop())
  const open = () => openOutbox({ redisUrl: redis.url }, silentLog)

  contract('on a real Redis', open)

  test('another process goes on with it', async () => {
    const [one, other] = [open(), open()]
    await one.add(place('shared'), decision(1))
    expect((await other.waiting(place('shared'), 1)).decisions).toEqual([decision(1)])
    await Promise.all([one.close(), other.close()])
  })
})
