import { itemsAt, jsonAt, mapAt, stringAt } from '../../../src/cluster/json.ts'
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
  const steps = [...cases].filter(([, one]) => one.steps[index] !== undefined)
  await Promise.all(steps.map(([namespace, one]) => doAll(world.cluster, one.steps[index]!.before ?? [], namespace)))
  const during: Promise<void>[] = []
  for (const isFirst of [true, false]) {
    const awaited = new Map<string, NodeState>()
    await Promise.all(
      steps.map(async ([namespace, one]) => {
        const { first = [], during: acts = [] } = one.steps[index]!
        for (const state of statesAt(one, index, namespace)) {
          if (state.isGone || first.includes(state.name) !== isFirst) continue
          awaited.set(`${namespace}/${state.name}`, state)
          await declareAt(world, state, namespace, index)
        }
        if (!isFirst) during.push(doAll(world.cluster, acts, namespace))
      }),
    )
    await Promise.all(during)
    if (!isFirst || awaited.size > 0) await untilOver(world, awaited, revisionOf(index))
  }
}

/** Gives the controller what git has of a Kustomization at a step. */
async function declareAt(world: FluxWorld, state: NodeState, namespace: string, index: number): Promise<void> {
  if (state.isDeleted) {
    await world.cluster.request('DELETE', `${kustomizations(namespace)}/${state.name}`)
    return
  }
  const origin = state.origin === '' ? undefined : state.origin
  await world.artifacts.put({ namespace, name: state.source }, revisionOf(index), state.files, origin)
  if (state.isNewSpec) await declare(world.cluster, state, namespace)
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
    const isOverAll = [...awaited].every(([key, state]) => isOver(live, key, state, revision))
    if (Date.now() - since > (isOverAll ? QUIET_MS : SILENT_MS)) return
  }
  throw new Error(`kustomize-controller is not done after ${LIMIT_MS / 1000} s`)
}

const keyOf = (object: Json) => `${stringAt(object, 'metadata', 'namespace')}/${stringAt(object, 'metadata', 'name')}`

function isOver(all: ReadonlyMap<string, Json>, key: string, state: NodeState, revision: string): boolean {
  const live = all.get(key)
  if (state.isDeleted) return live === undefined
  if (live === undefined) return false
  const { generation } = mapAt(live, 'metadata')
  if (jsonAt(state.declared, 'spec', 'suspend') === true) return true
  const ready = conditionOf(live, 'Ready')
  if (!ready || jsonAt(ready, 'observedGeneration') !== generation || stringAt(ready, 'status') === 'Unknown')
    return false
  // what it waits for may be there now: then it asks again, on a busy machine much later than after its second
  if (stringAt(ready, 'reason') === 'DependencyNotReady')
    return !itemsAt(live, 'spec', 'dependsOn').every(isReadyIn(all, live))
  if (stringAt(conditionOf(live, 'Stalled') ?? null, 'status') === 'True') return true
  return stringAt(live, 'status', 'lastAttemptedRevision') === revision
}

function isReadyIn(all: ReadonlyMap<string, Json>, dependent: Json): (dependency: Json) => boolean {
  return dependency => {
    const namespace = stringAt(dependency, 'namespace') || stringAt(dependent, 'metadata', 'namespace')
    const live = all.get(`${namespace}/${stringAt(dependency, 'name')}`) ?? null
    const ready = conditionOf(live, 'Ready') ?? null
    const { generation } = mapAt(live, 'metadata')
    return stringAt(ready, 'status') === 'True' && jsonAt(ready, 'observedGeneration') === generation
  }
}
