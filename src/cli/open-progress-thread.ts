import { writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { ERASE, type ProgressLine } from './progress.ts'
import { progressCells } from './progress-cells.ts'

const STDERR = 2

/** The progress line, written to the standard error by a thread of its own, which starts with the first stage. */
export function openProgressThread(): ProgressLine {
  const cells = progressCells()
  let thread: Worker | undefined
  const clear = (): void => {
    if (!thread) return
    cells.locked(() => {
      cells.generation++
      if (cells.isShown) writeSync(STDERR, ERASE)
      cells.isShown = false
    })
  }
  return {
    stage(stage) {
      thread ??= new Worker(new URL('./progress-thread.ts', import.meta.url), {
        ...{ env: {}, execArgv: [], workerData: cells.buffer },
      })
      // the progress line must not keep the process alive
      thread.unref()
      thread.postMessage({ stage, generation: cells.generation })
    },
    clear,
    end() {
      clear()
      void thread?.terminate()
    },
  }
}
