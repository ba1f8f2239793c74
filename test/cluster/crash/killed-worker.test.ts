import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { haveAssets } from '../cluster-under-test.ts'
import type { Moment } from '../fault-proxy.ts'
import { type CrashLab, openCrashLab } from './crash-lab.ts'
import { type SpawnedWorker, spawnWorker } from './spawn-worker.ts'

/** Every request of an apply, before it arrives and after it is answered; by default some of them, spread over all. */
const EVERY = process.env.EVERY_MOMENT !== undefined
const SOME = 12

describe.skipIf(!haveAssets())('the worker is killed in the middle of an apply', () => {
  let lab: CrashLab
  let next: SpawnedWorker
  beforeAll(async () => {
    lab = await openCrashLab()
    next = spawnWorker()
  }, 120_000)
  afterAll(async () => {
    await next?.kill()
    await lab?.close()
  })

  /** Kills it at that moment; what is wrong when another one has gone on. */
  async function killAt(number: number, when: Moment): Promise<string[]> {
    const world = await lab.open()
    const worker = next
    next = spawnWorker()
    lab.proxy.moment = async (at, now) => {
      if (at !== number || now !== when) return undefined
      await worker.kill()
      return 'lost'
    }
    worker.begin(lab.proxy.kubeconfig, world.cluster, world.after)
    const code = await worker.ended
    lab.proxy.moment = undefined
    const early = code === null || code === 0 ? [] : [worker.said()]
    const problems = [...early, ...(await lab.finish(world))]
    return problems.map(problem => `request ${number}, ${when}: ${problem}`)
  }

  test.each(['sent', 'answered'] as const)(
    'when a request is %s: another one ends in the same state, and does nothing twice',
    async when => {
      const { requests } = lab.reference
      const all = Array.from({ length: requests }, (_, index) => index + 1)
      const chosen = EVERY ? all : all.filter(number => number % Math.ceil(requests / SOME) === 1)
      const problems: string[] = []
      for (const number of chosen) problems.push(...(await killAt(number, when)))
      expect(problems).toEqual([])
    },
    3_600_000,
  )
})
