import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../../errors.ts'
import { customStatus } from '../../kstatus/custom-status.ts'
import { type ResourceStatus, unknown } from '../../kstatus/model/resource-status.ts'
import type { ObjectId } from '../../kube/object.ts'
import type { ClusterClient } from '../client.ts'
import { failedPods } from './failed-pods.ts'
import { type HealthNode, healthTargets, jobsWithTtl, targetKey } from './health-targets.ts'
import { type Reading, readObjects } from './read-objects.ts'

/** An object that is not healthy, and why. */
interface UnhealthyObject extends ResourceStatus {
  readonly object: ObjectId
}

/** `reason` is Flux's text, with what kstatus says of each object behind it. */
export type Health =
  | { readonly state: 'healthy'; readonly checked: number }
  | { readonly state: 'failed' | 'timeout'; readonly reason: string; readonly objects: readonly UnhealthyObject[] }

/** Soon at first, for what is ready at once; then as often as Flux. */
const PAUSES_MS = [250, 500, 1_000, 2_000, 5_000] as const
/** A condition of Kubernetes holds 32 KiB. */
const MAX_LISTED = 50

interface Clock {
  readonly now: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>
}

const REAL_CLOCK: Clock = { now: Date.now, sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }) }

/**
 * Waits until everything that the Kustomization wants to be healthy is, one of it has failed, or its timeout has passed.
 * Reads as its account; what cannot be read is not healthy. Only rejects for `signal`, with its reason, and for bugs.
 */
export async function waitHealthy(
  client: ClusterClient,
  node: HealthNode,
  applied: readonly ObjectId[],
  signal: AbortSignal,
  clock: Clock = REAL_CLOCK,
): Promise<Health> {
  const targets = healthTargets(node, applied)
  const round = new Round(client, node, signal, clock)
  const deadline = clock.now() + node.settings.timeoutMs
  let waiting = targets
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    let unhealthy = await round.unhealthy(waiting)
    // what was healthy a while ago need not be now
    if (unhealthy.length === 0 && attempt > 0) unhealthy = await round.unhealthy(targets)
    if (unhealthy.length === 0) return { state: 'healthy', checked: targets.length }
    const gone = unhealthy.filter(({ status }) => status === 'Failed')
    if (gone.length > 0) return answer('failed', gone)
    const left = deadline - clock.now()
    if (left <= 0) return answer('timeout', unhealthy)
    waiting = unhealthy.map(({ object }) => object)
    await pause(clock, Math.min(left, PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]!), signal)
  }
}

/** One look at objects after the other, with what is known of the node. */
class Round {
  readonly #client: ClusterClient
  readonly #node: HealthNode
  readonly #signal: AbortSignal
  readonly #clock: Clock
  readonly #finished: ReadonlySet<string>
  readonly #custom: ReturnType<typeof customStatus>

  constructor(client: ClusterClient, node: HealthNode, signal: AbortSignal, clock: Clock) {
    this.#client = client
    this.#node = node
    this.#signal = signal
    this.#clock = clock
    this.#finished = jobsWithTtl(node)
    this.#custom = customStatus(node.settings.healthCheckExprs)
  }

  async unhealthy(ids: readonly ObjectId[]): Promise<UnhealthyObject[]> {
    const request = {
      ...{ client: this.#client, node: this.#node, signal: this.#signal },
      isOwned: this.#node.settings.wait,
      isWhole: (id: ObjectId) => this.#custom.decides(id),
    }
    const readings = await readObjects(request, ids)
    const found: UnhealthyObject[] = []
    for (const id of ids) {
      const status = await this.#status(id, readings.get(targetKey(id)))
      if (status.status !== 'Current') found.push({ object: id, ...status })
    }
    return found
  }

  async #status(id: ObjectId, reading: Reading | undefined): Promise<ResourceStatus> {
    if (!reading) throw new BailiwickError('internal', `${targetKey(id)} was not read`)
    if ('error' in reading) return unknown(reading.error)
    const { object } = reading
    if (object === undefined) {
      const isDone = this.#finished.has(targetKey(id))
      return { status: isDone ? 'Current' : 'NotFound', message: 'Resource not found' }
    }
    const now = this.#clock.now()
    const status = this.#custom.status(object, now)
    if (status.status !== 'InProgress' || this.#custom.decides(id)) return status
    const pods = await failedPods(this.#client, this.#node.user, id, object, { now, signal: this.#signal })
    return pods ?? status
  }
}

function answer(state: 'failed' | 'timeout', objects: readonly UnhealthyObject[]): Health {
  const begin = state === 'failed' ? 'failed early due to stalled resources' : 'timeout waiting for'
  const listed = objects.slice(0, MAX_LISTED).map(describe)
  if (objects.length > MAX_LISTED) listed.push(`and ${objects.length - MAX_LISTED} more`)
  return { state, reason: `${begin}: [${listed.join(', ')}]`, objects: objects.slice(0, MAX_LISTED) }
}

/** `Deployment/apps/web status: 'InProgress': Available: 0/1`. */
function describe({ object, status, message }: UnhealthyObject): string {
  const { kind, namespace, name } = object
  const place = [kind, ...(namespace ? [namespace] : []), name].join('/')
  return `${place} status: '${status}'${message === '' ? '' : `: ${message}`}`
}

async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
