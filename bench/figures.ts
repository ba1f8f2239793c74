import { appendFileSync } from 'node:fs'

/** One row of bench/RESULTS.md. Times are in milliseconds, memory in MiB. */
export interface Figure {
  readonly name: string
  readonly wall?: number
  readonly cpu?: number
  readonly memory?: number
  /** How many times what the floor or peer `to` took in the same run: less is better. */
  readonly ratio?: number
  readonly to?: string
}

/** Hands a figure to `npm run bench`, which names the file; a bench that runs by itself only prints. */
export function record(figure: Figure): void {
  const file = process.env.BAILIWICK_FIGURES
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figure)}\n`)
}
