interface Opened {
  readonly bytes: Buffer
  readonly value: unknown
  readonly size: number
}

/** Text of all values together. */
const MAX_SIZE = 64 * 1024 * 1024

/**
 * Values that were read from a store, by key, while the store holds the same bytes: the page of a large fleet is not parsed at each view.
 * It holds what is stored, not what a person may see of it.
 */
export class OpenedPages {
  /** The one that was used last is at the end. */
  readonly #opened = new Map<string, Opened>()
  #size = 0

  /** The value of these bytes, opened now unless it was opened before. `size`: bytes of its text. */
  async open<T>(
    key: string,
    bytes: Buffer,
    open: () => Promise<{ readonly value: T; readonly size: number }>,
  ): Promise<T> {
    const known = this.#opened.get(key)
    this.#drop(key)
    // the whole bytes: a digest in the store could be that of others
    const { value, size } = known?.bytes.equals(bytes) ? known : await open()
    this.#drop(key) // another view may have opened it meanwhile
    this.#opened.set(key, { bytes, value, size })
    this.#size += size
    for (const oldest of this.#opened.keys()) {
      if (this.#size <= MAX_SIZE) break
      this.#drop(oldest)
    }
    return value as T
  }

  #drop(key: string): void {
    this.#size -= this.#opened.get(key)?.size ?? 0
    this.#opened.delete(key)
  }
}
