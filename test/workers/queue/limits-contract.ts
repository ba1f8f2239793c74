import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import type { OpenQueue } from '../../../src/receive/queue.ts'
import { Gate, pull } from './contract.ts'
import { until } from './until.ts'

/** What every implementation of Queue promises about limits, floods and jobs that cannot be done; like `queueContract`. */
export function limitsContract(title: string, open: () => OpenQueue): void {
  describe(title, () => {
    let queue: OpenQueue
    const opened = (): OpenQueue => {
      queue = open()
      return queue
    }
    afterEach(() => queue.close(0))

    test('a limit is waited for, as long as it says, and uses up no attempt', async () => {
      opened()
      const attempts: number[] = []
      const times: number[] = []
      queue.work('validate-pull-request', async (_, attempt) => {
        attempts.push(attempt.number)
        times.push(performance.now())
        if (attempts.length <= 4) throw limit(1)
      })
      await queue.add('validate-pull-request', pull(1))
      await queue.idle()
      expect(attempts, 'three attempts would have been used up').toEqual([1, 1, 1, 1, 1])
      for (const [index, time] of times.entries()) {
        if (index > 0) expect(time - times[index - 1]!).toBeGreaterThan(950)
      }
    })

    test('everything else of that installation waits with it, whatever kind of job; others go on', async () => {
      opened()
      const seen: string[] = []
      const note = (what: string, data: { installation: number }) => void seen.push(`${what} of ${data.installation}`)
      let limited = true
      queue.work('validate-pull-request', async data => {
        if (data.installation === 1 && limited) {
          limited = false
          note('limit', data)
          throw limit(1)
        }
        note(`pull ${data.pull}`, data)
      })
      queue.work('evaluate-commit', async data => note('commit', data))
      await queue.add('validate-pull-request', pull(1))
      await until(() => seen.length === 1)
      await sleep(50)
      const commit = { owner: 'acme', repo: 'fleet', sha: 'a'.repeat(40) }
      await queue.add('evaluate-commit', { ...commit, installation: 1 })
      await queue.add('evaluate-commit', { ...commit, installation: 2 })
      await queue.add('validate-pull-request', { ...pull(2), installation: 2 })
      await queue.add('validate-pull-request', pull(3))
      await sleep(600)
      expect(seen.sort()).toEqual(['commit of 2', 'limit of 1', 'pull 2 of 2'])
      await queue.idle()
      expect(seen.slice(3).sort()).toEqual(['commit of 1', 'pull 1 of 1', 'pull 3 of 1'])
    })

    test('an outage that names a time is tried again no sooner, and does use up an attempt', async () => {
      opened()
      const times: number[] = []
      queue.work('validate-pull-request', async () => {
        times.push(performance.now())
        if (times.length === 1) throw new BailiwickError('github-unavailable', 'computing', { retryAfter: 1 })
      })
      await queue.add('validate-pull-request', pull(1))
      await until(() => times.length === 1)
      await sleep(20)
      await queue.add('validate-push', { installation: 1, owner: 'acme', repo: 'x', branch: 'b', sha: 'a'.repeat(40) })
      let pushed = 0
      queue.work('validate-push', async () => {
        pushed = performance.now()
      })
      await queue.idle()
      expect(times[1]! - times[0]!).toBeGreaterThan(950)
      expect(pushed - times[0]!, 'nobody else waits').toBeLessThan(900)
    })

    test('a job that is put off is done at once when somebody asks at once, and not put off again', async () => {
      opened()
      const started = performance.now()
      const seen: number[] = []
      await queue.add('validate-pull-request', pull(1), { delayMs: 60_000 })
      await queue.add('validate-pull-request', pull(1))
      await queue.add('validate-pull-request', pull(1), { delayMs: 60_000 })
      queue.work('validate-pull-request', async data => void seen.push(data.pull))
      await queue.idle()
      expect(seen).toEqual([1])
      expect(performance.now() - started).toBeLessThan(10_000)
    })

    test('who is told of dead jobs hears of each once: after the last attempt, and of a refusal', async () => {
      opened()
      const dead: [number, unknown][] = []
      queue.work(
        'validate-pull-request',
        async ({ pull: number }) => {
          if (number === 1) throw new BailiwickError('github-unavailable', 'GitHub answered 502')
          if (number === 2) throw new BailiwickError('not-permitted', 'refused')
        },
        { dead: async (data, error) => void dead.push([data.pull, (error as BailiwickError).code]) },
      )
      for (const number of [1, 2, 3]) await queue.add('validate-pull-request', pull(number))
      await queue.idle()
      await until(() => dead.length === 2)
      await sleep(100)
      expect(dead.sort()).toEqual([
        [1, 'github-unavailable'],
        [2, 'not-permitted'],
      ])
    })

    test('who is told of dead jobs and fails does no harm', async () => {
      opened()
      let runs = 0
      queue.work(
        'validate-pull-request',
        async () => {
          if (++runs === 1) throw new BailiwickError('not-permitted', 'refused')
        },
        { dead: () => Promise.reject(new Error('nobody home')) },
      )
      await queue.add('validate-pull-request', pull(1))
      await queue.idle()
      await queue.add('validate-pull-request', pull(1))
      await queue.idle()
      expect(runs).toBe(2)
    })

    test('who floods waits for himself: one more repository is served within a few jobs', async () => {
      opened()
      const order: string[] = []
      const first = new Gate()
      queue.work(
        'validate-pull-request',
        async ({ repo, pull: number }) => {
          if (number === 1_000) await first.run()
          else order.push(`${repo} ${number}`)
        },
        { concurrency: 1 },
      )
      await queue.add('validate-pull-request', pull(1_000))
      await until(() => first.started === 1)
      for (let number = 1; number <= 200; number++) await queue.add('validate-pull-request', pull(number))
      for (const repo of ['quiet-team', 'other-team']) {
        for (const number of [1, 2]) await queue.add('validate-pull-request', { ...pull(number), repo })
      }
      first.open()
      await queue.idle()
      expect(order).toHaveLength(204)
      const last = Math.max(...order.flatMap((job, index) => (job.includes('team') ? [index] : [])))
      expect(last, 'of 204 jobs').toBeLessThan(8)
    })
  })
}

function limit(seconds: number): BailiwickError {
  return new BailiwickError('github-unavailable', 'too many requests', { retryAfter: seconds, limited: true })
}
