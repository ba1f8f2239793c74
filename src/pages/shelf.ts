/** An item of the list of a store, written along with the item. */
export interface TtlStoreNote {
  readonly key: string
  readonly note: string
}

/**
 * A TTL store: it drops expired items, and the oldest ones when it is full. No code may rely on an item being present.
 */
export interface TtlStore {
  /** Stores bytes under a key in place of what was there; `note` is a short text for lists. */
  put(key: string, bytes: Buffer, note?: string): Promise<void>
  get(key: string): Promise<Buffer | undefined>
  delete(key: string): Promise<void>
  /** The newest items first, at most this many. */
  notes(most: number): Promise<readonly TtlStoreNote[]>
  close(): Promise<void>
}

/** The lifetime of items in a store, and its size limit. */
export interface TtlStoreLimits {
  readonly ttlMs: number
  /** Of all items together. */
  readonly maxBytes: number
}
