import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { stringAt } from '../../../src/cluster/json.ts'
import { acquireLease, type HeldLease, LEASE_TIMING, LeaseElection, leasedClient } from '../../../src/cluster/lease.ts'
import { LeaseWorld, type Trouble } from './lease-world.ts'

const { duration, renewDeadline, retry } = LEASE_TIMING
const name = 'bailiwick-worker'

describe('an election by a Lease', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  const candidate = (world: LeaseWorld, identity: string, trouble?: () => Trouble) => {
    const stop = new AbortController()
    const found: { lease?: HeldLease; waits: string[] } = { waits: [] }
    const waiting = (why: string) => found.waits.push(why)
    const run = acquireLease(world.client(trouble), { name, identity, waiting }, stop.signal).then(
      lease => {
        found.lease = lease
      },
      () => {},
    )
    return Object.assign(found, { run, stop: () => stop.abort() })
  }
  const mayWrite = (lease: HeldLease | undefined) => {
    try {
      return lease !== undefined && lease.writeWithin() > 0
    } catch {
      return false
    }
  }

  test('one of two leads, the other waits and says for whom', async () => {
    const world = new LeaseWorld()
    const [a, b] = [candidate(world, 'a'), candidate(world, 'b')]
    await vi.advanceTimersByTimeAsync(10 * duration)
    expect([mayWrite(a.lease), mayWrite(b.lease)]).toEqual([true, false])
    expect(b.waits.at(-1)).toBe('a holds it')
    expect(stringAt(world.stored, 'spec', 'renewTime')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    b.stop()
    await a.lease!.release()
  })

  test('one that is released is taken by the other at its next try', async () => {
    const world = new LeaseWorld()
    const [a, b] = [candidate(world, 'a'), candidate(world, 'b')]
    await vi.advanceTimersByTimeAsync(duration)
    await a.lease!.release()
    expect(mayWrite(a.lease)).toBe(false)
    await vi.advanceTimersByTimeAsync(retry * 2.2)
    expect(mayWrite(b.lease)).toBe(true)
    expect(world.stored).toMatchObject({ spec: { holderIdentity: 'b', leaseTransitions: 1 } })
    await b.lease!.release()
  })

  test('a holder that cannot renew stops before the other begins', async () => {
    const world = new LeaseWorld()
    let isCut = false
    const [a, b] = [candidate(world, 'a', () => ({ drop: isCut })), candidate(world, 'b')]
    await vi.advanceTimersByTimeAsync(duration)
    isCut = true
    await vi.advanceTimersByTimeAsync(renewDeadline)
    expect([mayWrite(a.lease), a.lease!.signal.aborted, mayWrite(b.lease)]).toEqual([false, true, false])
    await vi.advanceTimersByTimeAsync(duration)
    expect(mayWrite(b.lease)).toBe(true)
    await b.lease!.release()
  })

  test('a short outage of the API server takes the Lease from nobody', async () => {
    const world = new LeaseWorld()
    let isCut = false
    const [a, b] = [candidate(world, 'a', () => ({ drop: isCut })), candidate(world, 'b')]
    await vi.advanceTimersByTimeAsync(duration)
    isCut = true
    await vi.advanceTimersByTimeAsync(renewDeadline - 2 * retry)
    isCut = false
    await vi.advanceTimersByTimeAsync(5 * duration)
    expect([mayWrite(a.lease), mayWrite(b.lease)]).toEqual([true, false])
    b.stop()
    await a.lease!.release()
  })

  test('a holder whose machine slept does not believe that it still holds', async () => {
    const world = new LeaseWorld()
    const a = candidate(world, 'a')
    await vi.advanceTimersByTimeAsync(retry)
    // the steady clock stands still while a machine sleeps
    vi.setSystemTime(Date.now() + renewDeadline)
    expect(mayWrite(a.lease)).toBe(false)
    await vi.advanceTimersByTimeAsync(retry)
    expect(a.lease!.signal.aborted).toBe(true)
  })

  test('whoever takes the Lease by hand stops the holder at its next renewal', async () => {
    const world = new LeaseWorld()
    const a = candidate(world, 'a')
    await vi.advanceTimersByTimeAsync(retry)
    const spec = { ...(world.stored!.spec as object), holderIdentity: 'x' }
    world.stored = {
      ...world.stored!,
      spec,
      metadata: { ...(world.stored!.metadata as object), resourceVersion: '99' },
    }
    await vi.advanceTimersByTimeAsync(retry)
    expect([mayWrite(a.lease), a.lease!.signal.aborted]).toEqual([false, true])
  })

  // another pause between two tries, and another age of what the other one saw last
  test.each(Array.from({ length: 21 }, (_, index) => index / 20))(
    'a Lease that somebody deletes is not taken while its holder may still write (jitter %f)',
    async jitter => {
      vi.spyOn(Math, 'random').mockReturnValue(jitter)
      const world = new LeaseWorld()
      let isCut = false
      const [a, b] = [candidate(world, 'a', () => ({ drop: isCut })), candidate(world, 'b')]
      await vi.advanceTimersByTimeAsync(duration)
      isCut = true
      world.stored = undefined
      for (let ms = 0; ms < 3 * duration; ms += 500) {
        await vi.advanceTimersByTimeAsync(500)
        expect(mayWrite(a.lease) && mayWrite(b.lease)).toBe(false)
      }
      expect(mayWrite(b.lease)).toBe(true)
      await b.lease!.release()
    },
  )

  test('a Lease that somebody deletes is made again by its holder', async () => {
    const world = new LeaseWorld()
    const [a, b] = [candidate(world, 'a'), candidate(world, 'b')]
    await vi.advanceTimersByTimeAsync(duration)
    const before = world.stored
    world.stored = undefined
    await vi.advanceTimersByTimeAsync(retry)
    expect(stringAt(world.stored!, 'spec', 'acquireTime')).toBe(stringAt(before!, 'spec', 'acquireTime'))
    await vi.advanceTimersByTimeAsync(3 * duration)
    expect([mayWrite(a.lease), mayWrite(b.lease)]).toEqual([true, false])
    b.stop()
    await a.lease!.release()
  })

  test('times by which two could lead are refused', () => {
    const wrong = { duration: 10_000, renewDeadline: 10_000, retry: 2_000 }
    const make = () => new LeaseElection(new LeaseWorld().client(), { name, identity: 'a', timing: wrong })
    expect(make).toThrow(RangeError)
  })

  test('writes end with the Lease, reads do not', async () => {
    const world = new LeaseWorld()
    const a = candidate(world, 'a')
    await vi.advanceTimersByTimeAsync(retry)
    const sent: unknown[] = []
    const inner: ReturnType<LeaseWorld['client']> = {
      ...world.client(),
      request: async (_actor, method, _path, options) => {
        sent.push([method, options?.within !== undefined && options.within() > 0])
        return { status: 200, body: {} }
      },
    }
    const client = leasedClient(inner, a.lease!)
    await client.request({ user: 'u' }, 'PATCH', '/a')
    await client.request('worker', 'GET', '/a')
    await a.lease!.release()
    await client.request('worker', 'GET', '/a')
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      await expect(client.request('worker', method, '/a'), method).rejects.toMatchObject({ code: 'cluster-fenced' })
    expect(sent).toEqual([
      ['PATCH', true],
      ['GET', false],
      ['GET', false],
    ])
  })

  test('whatever the network does, no write of one can end after another may begin', async () => {
    const trouble = fc.record({
      drop: fc.boolean(),
      lose: fc.boolean(),
      lateMs: fc.option(fc.integer({ min: 0, max: 2 * duration }), { nil: undefined }),
    })
    // requests as they come: good ones, then some that go wrong, and again
    const spell = fc.tuple(fc.nat(6), fc.array(trouble, { maxLength: 12 }))
    const troubles = fc
      .array(spell, { minLength: 2, maxLength: 6 })
      .map(spells => spells.flatMap(([good, bad]): Trouble[] => [...Array<Trouble>(good).fill({}), ...bad]))
    let handovers = 0
    await fc.assert(
      fc.asyncProperty(troubles, troubles, troubles, async (...plans) => {
        const world = new LeaseWorld()
        const asked = [0, 0, 0]
        const next = (index: number) => () => plans[index]![asked[index]!++] ?? {}
        let all = plans.map((_, index) => candidate(world, `c${index}`, next(index)))
        let last: { readonly index: number; readonly until: number } | undefined
        for (let ms = 0; ms < 8 * duration; ms += 1000) {
          await vi.advanceTimersByTimeAsync(1000)
          for (const [index, { lease }] of all.entries()) {
            if (!mayWrite(lease)) continue
            if (last && last.index !== index) {
              expect(last.until).toBeLessThanOrEqual(performance.now())
              handovers++
            }
            last = { index, until: performance.now() + lease!.writeWithin() }
          }
          // who lost it stands again
          all = all.map((one, index) => (one.lease?.signal.aborted ? candidate(world, `c${index}`, next(index)) : one))
        }
        for (const one of all) {
          one.stop()
          await Promise.all([one.lease?.release().catch(() => {}), vi.advanceTimersByTimeAsync(retry)])
        }
      }),
      { numRuns: 60 },
    )
    expect(handovers).toBeGreaterThan(10)
  })
})
