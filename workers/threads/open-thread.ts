import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'

/**
 * Starts a thread for rendering. What it makes lives as long as its verdict, and a young generation that starts as small
 * as that of any thread copies it back and forth while it grows: with this one there are half as many collections.
 */
export function openThread(script: URL, heapMb: number, data?: unknown): Worker {
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
