import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { haveAssets } from '../cluster-under-test.ts'
import { type CrashLab, openCrashLab } from './crash-lab.ts'
import { openApplier } from './open-applier.ts'
import { spawnWorker } from './spawn-worker.ts'

const MOMENTS = 20
const BY_DEFAULT = 5
const chosen = Array.from({ length: MOMENTS }, (_, index) => index + 1).filter(
  moment => process.env.EVERY_MOMENT !== undefined || moment % (MOMENTS / BY_DEFAULT) === 1,
)

describe.skipIf(!haveAssets())('an apply is interrupted', () => {
  let lab: CrashLab
  beforeAll(async () => {
    lab = await openCrashLab()
  }, 120_000)
  afterAll(() => lab?.close())
  /** The request at that moment of an apply. */
  const requestAt = (moment: number) => Math.max(1, Math.floor((lab.reference.requests * moment) / (MOMENTS + 1)))

  test.each(chosen)(
    `the API server is killed and comes back, at moment %i of ${MOMENTS}: the same end, and nothing twice`,
    async moment => {
      const world = await lab.open()
      let paused: Promise<void> | undefined
      lab.proxy.moment = async number => {
        if (number === requestAt(moment)) paused = lab.under.server.pause()
        await paused
        return undefined
      }
      const worker = await openApplier(lab.proxy.kubeconfig, world.cluster, { timeoutMs: 5000 })
      const ended = await worker.run(world.after).then(
        () => '',
        error => error.code,
      )
      lab.proxy.moment = undefined
      await paused
      await lab.under.server.resume()
      await worker.close()
      expect(['', 'cluster-unavailable']).toContain(ended)
      expect(await lab.finish(world)).toEqual([])
    },
    120_000,
  )

  test.each(chosen)(
    `another worker begins at moment %i of ${MOMENTS}: the same end, and nothing twice`,
    async moment => {
      const world = await lab.open()
      const [first, second] = [spawnWorker(), spawnWorker()]
      lab.proxy.moment = number => {
        if (number === requestAt(moment)) second.begin(lab.proxy.kubeconfig, world.cluster, world.after)
        return undefined
      }
      first.begin(lab.proxy.kubeconfig, world.cluster, world.after)
      await first.ended
      await second.ended
      lab.proxy.moment = undefined
      // one is told to stop, or each by the other at another node, and says so
      for (const worker of [first, second])
        expect(worker.said() === '' || worker.said().includes('cluster-fenced')).toBe(true)
      expect(await lab.finish(world)).toEqual([])
    },
    120_000,
  )
})
