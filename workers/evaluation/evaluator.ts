import type { Worker } from 'node:worker_threads'
import { BailiwickError } from '../../src/errors.ts'
import { within } from '../../src/queue/within.ts'
import { openThread } from './open-thread.ts'
import type { EvaluationAnswer, EvaluationProgress, EvaluationRequest } from './protocol.ts'
import { requestKey } from './request-key.ts'

/** Answers that are kept: a resync and a sweep ask again for what nothing has touched. */
const KEPT = 16

/** Wall clock and heap of one evaluation: hostile input costs at most this, and never the process. */
export interface EvaluationLimits {
  readonly timeoutMs: number
  readonly heapMb: number
}

type OnProgress = (progress: EvaluationProgress) => void

/**
 * Renders and judges in a thread of its own, one evaluation at a time, so that the event loop of the process stays free
 * (a blocked loop loses the job's lock and the job runs twice). A thread that passes its limits is ended and replaced.
 */
export class Evaluator {
  readonly #limits: EvaluationLimits
  #thread: Worker | undefined
  #turn: Promise<unknown> = Promise.resolve()
  readonly #answers = new Map<string, EvaluationAnswer>()

  constructor(limits: EvaluationLimits) {
    this.#limits = limits
  }

  /** Answers in order. Throws `evaluation-limits` when time or heap ran out (never cached: the machine was too slow, or the input too much). */
  evaluate(request: EvaluationRequest, onProgress?: OnProgress): Promise<EvaluationAnswer> {
    const answer = this.#turn.then(() => this.#recall(request, onProgress))
    this.#turn = answer.catch(() => undefined)
    return answer
  }

  /** How much heap the thread holds; undefined while there is none, or while it is too busy to say. */
  async heapBytes(): Promise<number | undefined> {
    const statistics = this.#thread?.getHeapStatistics().catch(() => undefined) // it ended meanwhile
    const answer = statistics && (await within(500, statistics))
    return answer === 'late' ? undefined : answer?.used_heap_size
  }

  async close(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.terminate()
  }

  async #recall(request: EvaluationRequest, onProgress?: OnProgress): Promise<EvaluationAnswer> {
    const key = requestKey(request)
    const answer = this.#answers.get(key) ?? (await this.#run(request, onProgress))
    this.#answers.delete(key)
    this.#answers.set(key, answer)
    for (const oldest of this.#answers.keys()) if (this.#answers.size > KEPT) this.#answers.delete(oldest)
    return answer
  }

  async #run(request: EvaluationRequest, onProgress?: OnProgress): Promise<EvaluationAnswer> {
    const thread = this.#open()
    const { promise, resolve, reject } = Promise.withResolvers<EvaluationAnswer>()
    const timer = setTimeout(() => reject(this.#exceeded(`${this.#limits.timeoutMs} ms`)), this.#limits.timeoutMs)
    const onError = (error: Error & { code?: string }) =>
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? this.#exceeded(`${this.#limits.heapMb} MiB of heap`) : error)
    const onExit = (code: number) => reject(new Error(`the rendering thread ended with code ${code}`))
    const onMessage = (message: EvaluationAnswer | EvaluationProgress) =>
      message.type === 'progress' ? onProgress?.(message) : resolve(message)
    thread.on('message', onMessage).once('error', onError).once('exit', onExit)
    try {
      thread.postMessage(request)
      return await promise
    } catch (error) {
      await this.close()
      throw error
    } finally {
      clearTimeout(timer)
      thread.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
  }

  #open(): Worker {
    if (!this.#thread) {
      this.#thread = openThread(new URL('./thread.ts', import.meta.url), this.#limits.heapMb)
      this.#thread.unref()
    }
    return this.#thread
  }

  #exceeded(limit: string): BailiwickError {
    return new BailiwickError('evaluation-limits', `rendering and judging took more than ${limit}`, {
      fix: 'Make the change smaller, or let the operator raise RENDER_TIMEOUT_MS or RENDER_HEAP_MB.',
    })
  }
}
