import { itemsAt, jsonAt, mapAt, stringAt } from '../../../src/cluster/json-at.ts'
import type { Json } from '../../../src/kube/node.ts'
import { conditionOf, type FluxWorld, kustomizations } from '../status/flux-world.ts'
import { declare, doAll } from './acts.ts'
import { type NodeState, revisionOf, statesAt } from './case-state.ts'
import type { SameCase } from './step.ts'

const ALL = '/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations'
/** Longer than it waits for a dependency. */
const QUIET_MS = 1_300
/** What no rule says to be over is over when nothing happens any more. */
const SILENT_MS = 5_000
const LIMIT_MS = 90_000

/** Has the real controller do a step of each case, by the namespace; resolves when nothing happens any more. */
export async function fluxDoes(world: FluxWorld, cases: ReadonlyMap<string, SameCase>, index: number): Promise<void> {
  const during: Promise<void>[] = []
  const awaited = new Map<string, NodeState>()
  await Promise.all(
    [...cases].map(async ([namespace, one]) => {
      const step = one.steps[index]
      if (!step) return
      await doAll(world.cluster, step.before ?? [], namespace)
      for (const state of statesAt(one, index, namespace)) {
        if (state.isGone) continue
        awaited.set(`${namespace}/${state.name}`, state)
        if (state.isDeleted) {
          await world.cluster.request('DELETE', `${kustomizations(namespace)}/${state.name}`)
          continue
        }
        await world.artifacts.put({ namespace, name: state.source }, revisionOf(index), state.files)
        if (state.isNewSpec) await declare(world.cluster, state, namespace)
      }
      during.push(doAll(world.cluster, step.during ?? [], namespace))
    }),
  )
  await Promise.all(during)
  await untilOver(world, awaited, revisionOf(index))
}

async function untilOver(world: FluxWorld, awaited: ReadonlyMap<string, NodeState>, revision: string): Promise<void> {
  let print = ''
  let since = Date.now()
  for (
    const start = Date.now();
    Date.now() - start < LIMIT_MS;
    await new Promise(resolve => setTimeout(resolve, 200))
  ) {
    const { body } = await world.cluster.request('GET', ALL)
    const live = new Map(itemsAt(body, 'items').map(one => [keyOf(one), one]))
    const now = [...live].map(([key, one]) => `${key} ${stringAt(one, 'metadata', 'resourceVersion')}`).join('\n')
    if (now !== print) [print, since] = [now, Date.now()]
    const isOverAll = [...awaited].every(([key, state]) => isOver(live.get(key), state, revision))
    if (Date.now() - since > (isOverAll ? QUIET_MS : SILENT_MS)) return
  }
  throw new Error(`kustomize-controller is not done after ${LIMIT_MS / 1000} s`)
}

const keyOf = (object: Json) => `${stringAt(object, 'metadata', 'namespace')}/${stringAt(object, 'metadata', 'name')}`

function isOver(live: Json | undefined, state: NodeState, revision: string): boolean {
  if (state.isDeleted) return live === undefined
  if (live === undefined) return false
  const { generation } = mapAt(live, 'metadata')
  if (jsonAt(state.declared, 'spec', 'suspend') === true) return true
  const ready = conditionOf(live, 'Ready')
  if (!ready || jsonAt(ready, 'observedGeneration') !== generation || stringAt(ready, 'status') === 'Unknown')
    return false
  if (stringAt(ready, 'reason') === 'DependencyNotReady') return true
  if (stringAt(conditionOf(live, 'Stalled') ?? null, 'status') === 'True') return true
  return stringAt(live, 'status', 'lastAttemptedRevision') === revision
}
