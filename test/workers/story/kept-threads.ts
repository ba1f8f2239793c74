import { type OpenThread, openThread, type RenderingThread } from '../../../workers/fleets/open-thread.ts'
import { FORGET } from '../../../workers/fleets/protocol.ts'

const idle = new Map<number, RenderingThread[]>()

/**
 * Threads that outlive the stage that opened them: each takes two seconds of CPU to begin. The next stage gets one that has
 * forgotten every fleet. One that was busy or broken when it was let go of is ended.
 */
export const openKeptThread: OpenThread = heapMb => {
  const free = idle.get(heapMb) ?? []
  idle.set(heapMb, free)
  const { worker, node, close } = free.pop() ?? openThread(heapMb)
  return {
    worker,
    node,
    close: async isUsable => {
      if (!isUsable) return close(false)
      worker.postMessage(FORGET)
      free.push({ worker, node, close })
      return undefined
    },
  }
}
