import { parentPort, workerData } from 'node:worker_threads'
import { type Cold, type Given, measureCold, measureWarm, type Warm } from './measure-verdict.ts'

/** What a thread is asked to measure. */
export interface Task {
  readonly measure: string
  readonly given: Given
  readonly size: number
  readonly runs: number
}

const { measure, given, size, runs } = workerData as Task
const measured: Cold | Warm = measure === 'cold' ? measureCold(size, given) : measureWarm(size, runs)
parentPort?.postMessage(measured)
