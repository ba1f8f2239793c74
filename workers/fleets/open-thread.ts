import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { within } from '../../src/receive/retry.ts'
import { type EvaluationAnswer, type EvaluationProgress, type EvaluationRequest, RunningNode } from './protocol.ts'

/** A thread that renders, and the node that it is working on. */
export interface RenderingThread {
  readonly worker: Worker
  readonly node: RunningNode
  /** Releases it; a busy or broken one is never used again. */
  close(isUsable: boolean): Promise<unknown>
}

export type OpenThread = (heapMb: number) => RenderingThread

/**
 * Starts a thread for rendering. Its objects live as long as its verdict, and a young generation of the usual start
 * size would copy them back and forth while it grows: with this one there are half as many collections.
 */
export function startThread(script: URL, heapMb: number, data?: unknown): Worker {
  // read when a heap is created, so it is for this thread and later ones; resourceLimits can only set the maximum
  setFlagsFromString('--min-semi-space-size=32')
  // the default, also in a process of workers, whose main thread is limited when it starts
  setFlagsFromString('--max-semi-space-size=0')
  const { NODE_COMPILE_CACHE: cache } = process.env
  return new Worker(script, {
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    // the thread gets no other environment: nothing that it renders can reach a secret of the process
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
    workerData: data,
  })
}

/** Opens a new thread for each caller; it keeps no process alive. */
export const openThread: OpenThread = heapMb => {
  const node = new RunningNode()
  const worker = startThread(new URL('./thread.ts', import.meta.url), heapMb, node.shared)
  worker.unref()
  return { worker, node, close: () => worker.terminate() }
}

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
  /** The node in progress; '' if unknown. */
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

  /** Throws LimitExceeded, or the error that ended the thread. */
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
