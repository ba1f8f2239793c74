import { type OpenThread, openThread, type RenderingThread } from '../../../workers/fleets/open-thread.ts'

const idle = new Map<number, RenderingThread[]>()

/**
 * Threads that outlive the stage that opened them: each takes two seconds of CPU to begin, and what it keeps of a fleet never
 * changes an answer. One that was busy or broken when it was let go of is ended.
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
      free.push({ worker, node, close })
      return undefined
    },
  }
}
