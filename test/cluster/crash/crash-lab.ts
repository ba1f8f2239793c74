import type { Json } from '../../../src/kube/node.ts'
import type { AppliedNode } from '../../../src/report/apply-report.ts'
import { type ClusterUnderTest, createPlatformAccount, startUnderTest } from '../cluster-under-test.ts'
import { type FaultProxy, startFaultProxy } from '../fault-proxy.ts'
import { installKustomizations } from '../flux-kinds.ts'
import { type CrashWorld, crashWorld, runPods, seedPlatform, seedTenants } from './crash-world.ts'
import { changesOf, differenceOf, endState } from './end-state.ts'
import { openApplier } from './open-applier.ts'

/** How a world ended: what is there, and how often each object was changed on the way. */
export interface End {
  readonly state: Json
  readonly changes: ReadonlyMap<string, number>
}

/** An API server with a proxy before it, where one world after the other goes through the same apply. */
export interface CrashLab {
  readonly under: ClusterUnderTest
  readonly proxy: FaultProxy
  /** How the apply of a world ends when nothing happens, and what was sent for it. */
  readonly reference: End & { readonly requests: number }
  /** A world as it is before the apply; what the proxy saw is forgotten. */
  open(): Promise<CrashWorld>
  /** A new worker brings the world to what is approved, and looks once more; what is wrong in comparison with the reference. `drifted`: changes that were put back. */
  finish(world: CrashWorld, drifted?: RegExp): Promise<string[]>
  close(): Promise<void>
}

export async function openCrashLab(): Promise<CrashLab> {
  const under = await startUnderTest()
  await createPlatformAccount(under.server)
  await installKustomizations(under.server)
  const proxy = await startFaultProxy(under.server)
  const stop = new AbortController()
  const pods = runPods(under.server, stop.signal)
  let count = 0
  const open = async () => {
    const world = crashWorld(`w${++count}`)
    await seedPlatform(under.server, world)
    const applier = await openApplier(proxy.kubeconfig, world.cluster)
    await applier.run(world.before)
    await applier.close()
    await seedTenants(under.server, world)
    proxy.reset()
    return world
  }
  const end = async (world: CrashWorld): Promise<End> => ({
    state: await endState(under.server, world),
    changes: changesOf(proxy.answered, world),
  })
  const first = await open()
  const worker = await openApplier(proxy.kubeconfig, first.cluster)
  await worker.run(first.after)
  const requests = proxy.seen.length
  await worker.run(first.after)
  await worker.close()
  const reference = { ...(await end(first)), requests }
  return {
    ...{ under, proxy, reference, open },
    async finish(world, drifted) {
      const problems: string[] = []
      const again = await openApplier(proxy.kubeconfig, world.cluster)
      const said = await again.run(world.after).catch((error: Error) => error.message)
      problems.push(...(typeof said === 'string' ? [said] : said.flatMap(unexpected)))
      const before = proxy.seen.length
      await again.run(world.after).catch((error: Error) => problems.push(error.message))
      const late = proxy.seen.slice(before).filter(({ user }) => user !== '')
      problems.push(...late.map(({ method, path }) => `a settled world is still asked for: ${method} ${path}`))
      await again.close()
      return [...problems, ...differences(reference, await end(world), drifted)]
    },
    async close() {
      stop.abort()
      await pods
      await proxy.close()
      await under.stop()
    },
  }
}

/** What is said of a node of the world that is not what an undisturbed run says. */
export function unexpected({ key, outcome, reason = '', note = '', objects }: AppliedNode): string[] {
  const refused = objects
    .filter(({ action }) => action === 'refused')
    .map(({ object, message }) => `${object.name}: ${message}`)
  const expected = key.endsWith('/paused') ? 'held' : 'applied'
  const isFine = outcome === expected && note === '' && refused.length === 0 && (expected === 'held' || reason === '')
  return isFine ? [] : [`${key}: ${outcome} ${reason} ${note} ${refused.join(', ')}`]
}

/** Other objects, or changes that the reference did not need. */
function differences(reference: End, { state, changes }: End, drifted = /^$/): string[] {
  const often = [...changes].filter(
    ([path, times]) => times > (reference.changes.get(path) ?? 0) && !drifted.test(path),
  )
  return [...differenceOf(reference.state, state), ...often.map(([path, times]) => `${path}: ${times} changes`)]
}
