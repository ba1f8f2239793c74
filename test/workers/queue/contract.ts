import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import type { Attempt, OpenQueue, ValidatePullRequest } from '../../../src/receive/queue.ts'
import { until } from './until.ts'

/** What every implementation of Queue promises; `open` gives a fresh, empty one with three attempts and short rests. */
export function queueContract(title: string, open: () => OpenQueue): void {
  describe(title, () => {
    let queues: OpenQueue[] = []
    const opened = (): OpenQueue => {
      const queue = open()
      queues.push(queue)
      return queue
    }
    afterEach(async () => {
      await Promise.all(queues.map(queue => queue.close(0)))
      queues = []
    })

    test('equal jobs that wait are one job, owner and repo without case', async () => {
      const queue = opened()
      const seen: number[] = []
      await queue.add('validate-pull-request', pull(1))
      await queue.add('validate-pull-request', { ...pull(1), owner: 'ACME', repo: 'Fleet' })
      await queue.add('validate-pull-request', pull(2))
      await queue.add('validate-pull-request', pull(1))
      queue.work('validate-pull-request', async data => void seen.push(data.pull))
      await queue.idle()
      expect(seen.sort()).toEqual([1, 2])
    })

    test('says how many jobs of each kind wait, run and rest, and since when a running one does', async () => {
      const queue = opened()
      const before = Date.now()
      const started = Promise.withResolvers<Attempt>()
      const release = Promise.withResolvers<void>()
      await queue.add('sweep', {})
      await queue.add('sweep-installation', { installation: 1 }, { delayMs: 60_000 })
      queue.work('sweep', async (_, attempt) => {
        started.resolve(attempt)
        await release.promise
      })
      const { addedAt = 0 } = await started.promise
      expect(addedAt).toBeGreaterThanOrEqual(before)
      expect(addedAt).toBeLessThanOrEqual(Date.now())
      const none = { waiting: 0, active: 0, delayed: 0, failed: 0 }
      expect(await queue.depths()).toEqual([
        { ...none, queue: 'sweep', active: 1 },
        { ...none, queue: 'sweep-installation', delayed: 1 },
      ])
      release.resolve()
    })

    test('a handler gets the data as it was given', async () => {
      const queue = opened()
      const seen: unknown[] = []
      const data = { installation: 7, owner: 'Acme', repo: 'fleet', branch: 'feature/ü:1$(x)', sha: 'a'.repeat(40) }
      queue.work('validate-push', async given => void seen.push(given))
      await queue.add('validate-push', data)
      await queue.idle()
      expect(seen).toEqual([data])
    })

    test.each<[string, object]>([
      ['an owner that is a path', { owner: '../..' }],
      ['a repository that is a path', { repo: '..' }],
      ['a number as text', { pull: '1' }],
      ['no installation', { installation: undefined }],
    ])('a job with %s is not stored', async (_, changes) => {
      const queue = opened()
      const adding = queue.add('validate-pull-request', { ...pull(1), ...changes } as ValidatePullRequest)
      await expect(adding).rejects.toMatchObject({ code: 'internal' })
      await queue.idle()
    })

    test('equal jobs that arrive while one runs become exactly one run, afterwards', async () => {
      const queue = opened()
      const gate = new Gate()
      queue.work('validate-pull-request', () => gate.run(), { concurrency: 4 })
      await queue.add('validate-pull-request', pull(1))
      await until(() => gate.started === 1)
      for (let i = 0; i < 3; i++) await queue.add('validate-pull-request', pull(1))
      await sleep(100)
      expect(gate.started).toBe(1)
      gate.open()
      await queue.idle()
      expect([gate.started, gate.mostAtOnce]).toEqual([2, 1])
    })

    test('different keys run side by side, up to the concurrency', async () => {
      const queue = opened()
      const gate = new Gate()
      queue.work('validate-pull-request', () => gate.run(), { concurrency: 2 })
      for (let i = 1; i <= 3; i++) await queue.add('validate-pull-request', pull(i))
      await until(() => gate.started === 2)
      await sleep(100)
      expect(gate.started).toBe(2)
      gate.open()
      await queue.idle()
      expect([gate.started, gate.mostAtOnce]).toEqual([3, 2])
    })

    test('clusters have queues of their own', async () => {
      const queue = opened()
      const staging = new Gate()
      const seen: string[] = []
      queue.work('reconcile', () => staging.run(), { cluster: 'staging', concurrency: 1 })
      queue.work('reconcile', async data => void seen.push(data.cluster), { cluster: 'production', concurrency: 1 })
      await queue.add('reconcile', { cluster: 'staging' })
      await queue.add('reconcile', { cluster: 'production' })
      await until(() => seen.length === 1 && staging.started === 1)
      expect(seen).toEqual(['production'])
      staging.open()
      await queue.idle()
    })

    test('a worker for reconcile names its cluster', () => {
      expect(() => opened().work('reconcile', async () => undefined)).toThrow(/the cluster is missing/)
    })

    test('an outage is tried again; the last attempt says so; then the job is over', async () => {
      const queue = opened()
      const attempts: [number, boolean][] = []
      queue.work('validate-pull-request', async (_, attempt) => {
        attempts.push([attempt.number, attempt.lastAttempt])
        throw new BailiwickError('github-unavailable', 'GitHub answered 502')
      })
      await queue.add('validate-pull-request', pull(1))
      await queue.idle()
      expect(attempts).toEqual([
        [1, false],
        [2, false],
        [3, true],
      ])
      await queue.add('validate-pull-request', pull(1))
      await queue.idle()
      expect(attempts.slice(3).map(([number]) => number)).toEqual([1, 2, 3])
    })

    test('cluster-unavailable is an outage as well, and success ends the tries', async () => {
      const queue = opened()
      const attempts: number[] = []
      queue.work(
        'reconcile',
        async (_, attempt) => {
          attempts.push(attempt.number)
          if (attempt.number === 1) throw new BailiwickError('cluster-unavailable', 'no answer')
        },
        { cluster: 'staging' },
      )
      await queue.add('reconcile', { cluster: 'staging' })
      await queue.idle()
      expect(attempts).toEqual([1, 2])
    })

    test.each(['not-permitted', 'onboard-input', 'onboard-layout'] as const)('%s is not tried again', async code => {
      const queue = opened()
      let runs = 0
      queue.work('command', async () => {
        runs++
        throw new BailiwickError(code, 'refused')
      })
      await queue.add('command', { installation: 1, owner: 'acme', repo: 'fleet', issue: 1, comment: 9 })
      await queue.idle()
      expect(runs).toBe(1)
    })

    test('an equal job that arrives while one fails for good still runs', async () => {
      const queue = opened()
      const gate = new Gate()
      queue.work('validate-pull-request', async () => {
        await gate.run()
        if (gate.started === 1) throw new BailiwickError('not-permitted', 'refused')
      })
      await queue.add('validate-pull-request', pull(1))
      await until(() => gate.started === 1)
      await queue.add('validate-pull-request', pull(1))
      gate.open()
      await queue.idle()
      expect(gate.started).toBe(2)
    })

    test('a delayed job waits, and equal ones join it', async () => {
      const queue = opened()
      const seen: number[] = []
      queue.work('validate-pull-request', async () => void seen.push(performance.now()))
      const start = performance.now()
      await queue.add('validate-pull-request', pull(1), { delayMs: 300 })
      await queue.add('validate-pull-request', pull(1), { delayMs: 300 })
      await queue.idle()
      expect(seen.length).toBe(1)
      expect(seen[0]! - start).toBeGreaterThan(250)
    })

    test('repeat adds again and again; called twice it is one repeat; close ends it', async () => {
      const queue = opened()
      let runs = 0
      queue.work('reconcile', async () => void runs++, { cluster: 'staging' })
      await queue.repeat('reconcile', { cluster: 'staging' }, 200)
      await queue.repeat('reconcile', { cluster: 'staging' }, 200)
      await sleep(1000)
      await queue.idle()
      expect(runs).toBeGreaterThanOrEqual(2)
      expect(runs, 'two repeats would run about eleven times').toBeLessThanOrEqual(7)
      await queue.close(1000)
      const after = runs
      await sleep(500)
      expect(runs).toBe(after)
    })

    test('idle waits for what runs and resolves at once where nothing is left', async () => {
      const queue = opened()
      await queue.idle()
      const gate = new Gate()
      let idle = false
      queue.work('validate-pull-request', () => gate.run())
      await queue.add('validate-pull-request', pull(1))
      const done = queue.idle().then(() => {
        idle = true
      })
      await until(() => gate.started === 1)
      await sleep(200)
      expect(idle).toBe(false)
      gate.open()
      await done
    })

    test('close starts no more jobs and waits for the running one, which may still ask for others', async () => {
      const queue = opened()
      const gate = new Gate()
      const finished: number[] = []
      let attempt: Attempt | undefined
      queue.work(
        'validate-pull-request',
        async (data, given) => {
          attempt = given
          await gate.run()
          await queue.add('validate-pull-request', pull(3))
          finished.push(data.pull)
        },
        { concurrency: 1 },
      )
      await queue.add('validate-pull-request', pull(1))
      await until(() => gate.started === 1)
      await queue.add('validate-pull-request', pull(2))
      const closing = queue.close(10_000)
      await sleep(50)
      gate.open()
      await closing
      expect([finished, attempt?.signal.aborted]).toEqual([[1], false])
      await expect(queue.add('validate-pull-request', pull(2))).rejects.toMatchObject({ code: 'queue-unavailable' })
    })

    test('ping answers until close', async () => {
      const queue = opened()
      await queue.ping()
      await queue.close()
      await expect(queue.ping()).rejects.toMatchObject({ code: 'queue-unavailable' })
    })

    test('close tells a job that outlasts the grace, and returns', async () => {
      const queue = opened()
      const gate = new Gate()
      let told = false
      queue.work('validate-pull-request', async (_, { signal }) => {
        signal.addEventListener('abort', () => {
          told = true
        })
        await gate.run()
      })
      await queue.add('validate-pull-request', pull(1))
      await until(() => gate.started === 1)
      await queue.close(100)
      expect(told).toBe(true)
      gate.open()
    })

    test('one at a time is inside with a key, with the next entry, and one that throws lets the next one in', async () => {
      const queue = opened()
      expect(await queue.entries('head')).toBe(0)
      let now = 0
      let most = 0
      const inside = async (entry: number): Promise<number> => {
        most = Math.max(most, ++now)
        await sleep(5)
        now--
        if (entry === 2) throw new Error('the second one')
        return entry
      }
      const told = await Promise.allSettled([1, 2, 3, 4].map(() => queue.withLock('head', inside)))
      expect(most).toBe(1)
      expect(told.map(one => (one.status === 'fulfilled' ? one.value : one.reason.message)).sort()).toEqual(
        [1, 3, 4, 'the second one'].sort(),
      )
      expect(await queue.entries('head')).toBe(4)
    })

    test('with different keys they are inside together', async () => {
      const queue = opened()
      const gate = new Gate()
      const inside = ['one', 'two'].map(key => queue.withLock(key, () => gate.run()))
      await until(() => gate.started === 2)
      gate.open()
      await Promise.all(inside)
      expect(await queue.entries('three')).toBe(0)
    })
  })
}

/** A pull request job of acme/fleet. */
export function pull(number: number): ValidatePullRequest {
  return { installation: 1, owner: 'acme', repo: 'fleet', pull: number }
}

/** Jobs that stay until it opens, and a count of them. */
export class Gate {
  started = 0
  mostAtOnce = 0
  #now = 0
  readonly #opened = Promise.withResolvers<void>()

  open(): void {
    this.#opened.resolve()
  }

  async run(): Promise<void> {
    this.started++
    this.#now++
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#now)
    await this.#opened.promise
    this.#now--
  }
}
