/** Longer keys are cut, and then are those of no node. */
const BYTES = 2_048
const HEAD = 4

/** The node that a thread is working on, in shared memory, so that it can be read when the thread is ended. */
export class RunningNode {
  readonly shared: SharedArrayBuffer
  readonly #length: Int32Array
  readonly #text: Buffer

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
    this.shared = shared
    this.#length = new Int32Array(shared, 0, 1)
    this.#text = Buffer.from(shared, HEAD)
  }

  set(key: string): void {
    Atomics.store(this.#length, 0, 0)
    Atomics.store(this.#length, 0, this.#text.write(key, 'utf8'))
  }

  /** The key; '' where it is not known, or no node is worked on. */
  get(): string {
    return this.#text.toString('utf8', 0, Atomics.load(this.#length, 0))
  }
}
