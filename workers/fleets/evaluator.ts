import { availableParallelism } from 'node:os'
import { BailiwickError } from '../../src/base/errors.ts'
import { type EvaluationLimits, EvaluationThread, LimitExceeded, type OpenThread, openThread } from './open-thread.ts'
import { type EvaluationAnswer, type EvaluationProgress, type EvaluationRequest, requestKey } from './protocol.ts'

/** Cached answers: a resync and a sweep repeat requests that nothing has changed. */
const KEPT = 16
/** How many nodes may end one evaluation before all of it is an error. */
const MAX_STOPPED = 3

type OnProgress = (progress: EvaluationProgress) => void

/**
 * Renders and evaluates in threads of their own, so that the event loop of the process stays free (a blocked loop loses the
 * job's lock and the job runs twice). Repositories take turns: one never has all threads while another waits. A thread that
 * passes its limits is ended and replaced.
 */
export class Evaluator {
  readonly #limits: EvaluationLimits
  readonly #threads: readonly EvaluationThread[]
  readonly #queue: FairQueue<EvaluationThread>
  readonly #answers = new Map<string, EvaluationAnswer>()
  readonly #running = new Map<string, Promise<EvaluationAnswer>>()

  constructor(limits: EvaluationLimits, open: OpenThread = openThread) {
    this.#limits = limits
    const count = limits.threads ?? availableParallelism()
    this.#threads = Array.from({ length: count }, () => new EvaluationThread(limits, open))
    this.#queue = new FairQueue(this.#threads)
  }

  /**
   * The answer, or that of an equal request. After a timeout it is tried again alone, then without the node in
   * progress, which becomes an error of that node. Such an answer is not cached: the machine may have been too slow.
   * Throws `evaluation-limits` if no node is the cause.
   */
  evaluate(request: EvaluationRequest, onProgress?: OnProgress): Promise<EvaluationAnswer> {
    const key = requestKey(request)
    const known = this.#answers.get(key)
    if (known) return Promise.resolve(this.#keep(key, known))
    const running = this.#running.get(key)
    if (running) return running
    const answer = this.#run(request, key, onProgress).finally(() => this.#running.delete(key))
    this.#running.set(key, answer)
    return answer
  }

  /** How much heap the threads hold; undefined while there are none, or while they are too busy to say. */
  async heapBytes(): Promise<number | undefined> {
    const all = await Promise.all(this.#threads.map(thread => thread.heapBytes()))
    const known = all.filter(bytes => bytes !== undefined)
    return known.length === 0 ? undefined : known.reduce((sum, bytes) => sum + bytes, 0)
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(thread => thread.close()))
  }

  async #run(request: EvaluationRequest, key: string, onProgress: OnProgress | undefined): Promise<EvaluationAnswer> {
    let asked = request
    for (let isAlone = false; ; isAlone = true) {
      try {
        const turn = { owner: ownerOf(request), home: homeOf(request), isAlone }
        const answer = await this.#queue.run(turn, thread => thread.evaluate(asked, onProgress))
        if (asked !== request) return withStopped(answer, asked)
        return isSecret(request) ? answer : this.#keep(key, answer)
      } catch (error) {
        if (!(error instanceof LimitExceeded)) throw error
        if (error.what === 'time' && !isAlone) continue
        const stopped = 'stopped' in asked ? (asked.stopped ?? []) : []
        const isKnown = error.node === '' || stopped.includes(error.node)
        if (request.type !== 'evaluate' || isKnown || stopped.length === MAX_STOPPED) throw this.#exceeded(error)
        asked = { ...request, stopped: [...stopped, error.node] }
      }
    }
  }

  #keep(key: string, answer: EvaluationAnswer): EvaluationAnswer {
    this.#answers.delete(key)
    this.#answers.set(key, answer)
    for (const oldest of this.#answers.keys()) if (this.#answers.size > KEPT) this.#answers.delete(oldest)
    return answer
  }

  #exceeded({ what }: LimitExceeded): BailiwickError {
    const limit = what === 'time' ? `${this.#limits.timeoutMs} ms` : `${this.#limits.heapMb} MiB of heap`
    return new BailiwickError('evaluation-limits', `the evaluation took more than ${limit}`, {
      fix: 'Make the change smaller, or let the operator raise RENDER_TIMEOUT_MS or RENDER_HEAP_MB.',
    })
  }
}

/** A repeated evaluation must leave out the same nodes. */
function withStopped(answer: EvaluationAnswer, asked: EvaluationRequest): EvaluationAnswer {
  if (answer.type !== 'evaluated' || asked.type !== 'evaluate' || asked.stopped === undefined) return answer
  return { ...answer, stopped: asked.stopped }
}

/** Requests with values of a cluster are kept no longer than needed. */
const isSecret = (request: EvaluationRequest) => request.type === 'evaluate' && request.values !== undefined

/** The owner of the share of threads that it uses: the repository of the change. */
function ownerOf(request: EvaluationRequest): string {
  if (!('head' in request)) return request.url
  return (request.type === 'evaluate' ? request.changed : undefined) ?? request.head.fleet.url
}

/** The fleet: a thread that evaluated it before has its caches. */
function homeOf(request: EvaluationRequest): string {
  if (!('head' in request)) return ''
  return JSON.stringify([request.head.fleet.url, request.head.fleet.branch])
}

const PATIENCE = 50

/** A request for a place. */
interface Turn {
  /** Owners take turns. */
  readonly owner: string
  /** The turn gets the place that last had the same home, if that is free. */
  readonly home: string
  /** Begins only while nothing else runs. */
  readonly isAlone: boolean
}

interface Waiting<P> {
  readonly turn: Turn
  /** How many others began before it. */
  passed: number
  begin(place: P): void
}

/**
 * Gives few places to many waiting turns. Of several places one owner never has all while others may come; the next one
 * goes to the owner with the fewest that was served longest ago; a turn that runs alone comes after all others.
 */
export class FairQueue<P> {
  readonly #free: P[]
  readonly #most: number
  readonly #total: number
  readonly #waiting: Waiting<P>[] = []
  readonly #running = new Map<string, number>()
  readonly #served = new Map<string, number>()
  readonly #homes = new Map<P, string>()
  #clock = 0

  constructor(places: readonly P[]) {
    this.#free = [...places]
    this.#total = places.length
    this.#most = Math.max(1, places.length - 1)
  }

  /** Runs `work` once it has a place, and returns its result. */
  async run<T>(turn: Turn, work: (place: P) => Promise<T>): Promise<T> {
    const place = await new Promise<P>(begin => {
      this.#waiting.push({ turn, begin, passed: 0 })
      this.#dispatch()
    })
    try {
      return await work(place)
    } finally {
      const left = (this.#running.get(turn.owner) ?? 1) - 1
      if (left > 0) this.#running.set(turn.owner, left)
      else this.#running.delete(turn.owner)
      this.#free.push(place)
      this.#dispatch()
    }
  }

  #dispatch(): void {
    while (this.#free.length > 0) {
      const next = this.#next()
      if (!next) return
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      for (const one of this.#waiting) one.passed++
      const { owner, home } = next.turn
      const place = this.#placeFor(home)
      this.#homes.set(place, home)
      this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1)
      // drops the list before it grows without limit
      if (this.#served.size > 10_000) this.#served.clear()
      this.#served.set(owner, ++this.#clock)
      next.begin(place)
    }
  }

  #next(): Waiting<P> | undefined {
    const isIdle = this.#free.length === this.#total
    // a turn that runs alone must not starve: after enough others, nothing else begins before it
    const starved = this.#waiting.find(({ turn, passed }) => turn.isAlone && passed >= PATIENCE)
    if (starved) return isIdle ? starved : undefined
    let best: Waiting<P> | undefined
    for (const one of this.#waiting) {
      const { owner, isAlone } = one.turn
      if (isAlone ? !isIdle : (this.#running.get(owner) ?? 0) >= this.#most) continue
      if (!best || this.#isBefore(one, best)) best = one
    }
    return best
  }

  #isBefore({ turn: a }: Waiting<P>, { turn: b }: Waiting<P>): boolean {
    if (a.isAlone !== b.isAlone) return b.isAlone
    const [more, less] = [this.#running.get(a.owner) ?? 0, this.#running.get(b.owner) ?? 0]
    if (more !== less) return more < less
    return (this.#served.get(a.owner) ?? 0) < (this.#served.get(b.owner) ?? 0)
  }

  #placeFor(home: string): P {
    const known = this.#free.findIndex(place => this.#homes.get(place) === home)
    return this.#free.splice(Math.max(0, known), 1)[0]!
  }
}
