import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { RunningNode } from './running-node.ts'

/** A thread that renders, and the node that it is working on. */
export interface RenderingThread {
  readonly worker: Worker
  readonly node: RunningNode
  /** Lets go of it; one that is busy or broken is never used again. */
  close(isUsable: boolean): Promise<unknown>
}

export type OpenThread = (heapMb: number) => RenderingThread

/**
 * Starts a thread for rendering. What it makes lives as long as its verdict, and a young generation that starts as small
 * as that of any thread copies it back and forth while it grows: with this one there are half as many collections.
 */
export function startThread(script: URL, heapMb: number, data?: unknown): Worker {
  // read when a heap is made, so it is for this thread and those after it; resourceLimits can only say how large it may become
  setFlagsFromString('--min-semi-space-size=32')
  // the default, also in a process of workers, whose main thread is limited when it starts
  setFlagsFromString('--max-semi-space-size=0')
  return new Worker(script, {
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    // the thread gets no environment: nothing that it renders can reach a secret of the process
    env: {},
    workerData: data,
  })
}

/** A thread of its own for each that asks; it keeps no process alive. */
export const openThread: OpenThread = heapMb => {
  const node = new RunningNode()
  const worker = startThread(new URL('./thread.ts', import.meta.url), heapMb, node.shared)
  worker.unref()
  return { worker, node, close: () => worker.terminate() }
}
