import { within } from '../../src/queue/within.ts'
import type { OpenThread, RenderingThread } from './open-thread.ts'
import type { EvaluationAnswer, EvaluationProgress, EvaluationRequest } from './protocol.ts'

/** The time and heap limits of one evaluation, so that hostile input cannot stop the process. */
export interface EvaluationLimits {
  readonly timeoutMs: number
  readonly heapMb: number
  /** How many evaluations run at once; default: as many as there are cores. */
  readonly threads?: number
}

/** An evaluation exceeded its limits and was ended. */
export class LimitExceeded extends Error {
  readonly what: 'time' | 'heap'
  /** The node that was worked on; '' where that is not known. */
  readonly node: string

  constructor(what: 'time' | 'heap', node: string) {
    super(`an evaluation was ended: ${what}`)
    this.what = what
    this.node = node
  }
}

/** A thread for one evaluation at a time, started on demand and again after an evaluation was ended. */
export class EvaluationThread {
  readonly #limits: EvaluationLimits
  readonly #open: OpenThread
  #thread: RenderingThread | undefined
  #isBusy = false

  constructor(limits: EvaluationLimits, open: OpenThread) {
    this.#limits = limits
    this.#open = open
  }

  /** Throws LimitExceeded, or what the thread died of. */
  async evaluate(
    request: EvaluationRequest,
    onProgress?: (progress: EvaluationProgress) => void,
  ): Promise<EvaluationAnswer> {
    this.#thread ??= this.#open(this.#limits.heapMb)
    const { worker, node } = this.#thread
    const { promise, resolve, reject } = Promise.withResolvers<EvaluationAnswer>()
    const exceeded = (what: 'time' | 'heap') => reject(new LimitExceeded(what, node.get()))
    const timer = setTimeout(() => exceeded('time'), this.#limits.timeoutMs)
    const onError = (error: Error & { code?: string }) =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? exceeded('heap') : reject(error)
    const onExit = (code: number) => reject(new Error(`the rendering thread ended with code ${code}`))
    const onMessage = (message: EvaluationAnswer | EvaluationProgress) =>
      message.type === 'progress' ? onProgress?.(message) : resolve(message)
    worker.on('message', onMessage).once('error', onError).once('exit', onExit)
    try {
      this.#isBusy = true
      node.set('')
      worker.postMessage(request)
      const answer = await promise
      this.#isBusy = false
      return answer
    } catch (error) {
      await this.close()
      throw error
    } finally {
      clearTimeout(timer)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
  }

  /** How much heap it holds; undefined while it is not open, or too busy to say. */
  async heapBytes(): Promise<number | undefined> {
    const statistics = this.#thread?.worker.getHeapStatistics().catch(() => undefined) // it ended meanwhile
    const answer = statistics && (await within(500, statistics))
    return answer === 'late' ? undefined : answer?.used_heap_size
  }

  async close(): Promise<void> {
    const thread = this.#thread
    const isUsable = !this.#isBusy
    this.#thread = undefined
    this.#isBusy = false
    await thread?.close(isUsable)
  }
}
