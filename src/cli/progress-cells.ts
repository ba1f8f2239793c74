/** What the main thread and the thread of the progress line share. */
interface ProgressCells {
  /** Runs `work` while the other thread does not: one terminal, two writers. */
  locked(work: () => void): void
  /** Counts the times that the line was cleared: earlier messages to the thread are out of date. */
  generation: number
  /** The line is on the terminal. */
  isShown: boolean
  readonly buffer: SharedArrayBuffer
}

const [LOCK, GENERATION, SHOWN] = [0, 1, 2]

export function progressCells(buffer = new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT)): ProgressCells {
  const cells = new Int32Array(buffer)
  return {
    buffer,
    locked(work) {
      while (Atomics.compareExchange(cells, LOCK, 0, 1) !== 0) Atomics.wait(cells, LOCK, 1)
      try {
        work()
      } finally {
        Atomics.store(cells, LOCK, 0)
        Atomics.notify(cells, LOCK)
      }
    },
    get generation() {
      return Atomics.load(cells, GENERATION)
    },
    set generation(value) {
      Atomics.store(cells, GENERATION, value)
    },
    get isShown() {
      return Atomics.load(cells, SHOWN) === 1
    },
    set isShown(value) {
      Atomics.store(cells, SHOWN, value ? 1 : 0)
    },
  }
}
