/** An item as a list of them shows it: made by whoever puts it there. */
export interface ShelfNote {
  readonly key: string
  readonly note: string
}

/** Bounded storage that forgets: what is old, and the oldest where there is too much. Nothing may depend on an item. */
export interface Shelf {
  /** Stores bytes under a key in place of what was there; `note` is a short text for lists. */
  put(key: string, bytes: Buffer, note?: string): Promise<void>
  get(key: string): Promise<Buffer | undefined>
  delete(key: string): Promise<void>
  /** The newest items first, at most this many. */
  notes(most: number): Promise<readonly ShelfNote[]>
  close(): Promise<void>
}

/** How long a shelf keeps something, and how much of it. */
export interface ShelfLimits {
  readonly ttlMs: number
  /** Of all items together. */
  readonly maxBytes: number
}
