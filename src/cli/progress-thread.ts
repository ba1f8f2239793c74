import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { openProgress } from './progress.ts'
import { progressCells } from './progress-cells.ts'

// Rendering keeps the main thread busy for seconds, in which its timers do not run: this thread has the timer.

const STDERR = 2
const cells = progressCells(workerData)
let generation = 0

const line = openProgress(
  text =>
    cells.locked(() => {
      if (cells.generation !== generation) return
      writeSync(STDERR, text)
      cells.isShown = true
    }),
  () => performance.now(),
)

parentPort?.on('message', (sent: { readonly stage: string; readonly generation: number }) => {
  if (sent.generation !== generation) line.clear()
  generation = sent.generation
  line.stage(sent.stage)
})
