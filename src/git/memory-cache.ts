/** Values by key, the least recently used are forgotten first when their bytes exceed `maxBytes`. */
export class MemoryCache<V> {
  readonly #values = new Map<string, { readonly value: V; readonly bytes: number }>()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(key: string): V | undefined {
    const found = this.#values.get(key)
    if (!found) return undefined
    this.#values.delete(key)
    this.#values.set(key, found)
    return found.value
  }

  set(key: string, value: V, bytes: number): void {
    if (bytes > this.#maxBytes) return
    const before = this.#values.get(key)
    if (before) this.#bytes -= before.bytes
    this.#values.delete(key)
    this.#values.set(key, { value, bytes })
    this.#bytes += bytes
    for (const [oldest, { bytes: size }] of this.#values) {
      if (this.#bytes <= this.#maxBytes) return
      this.#values.delete(oldest)
      this.#bytes -= size
    }
  }
}
