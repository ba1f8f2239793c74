/** Where in a list things with a key stand, for lists of which few items change from one to the next. */
export class Places<T> {
  readonly #keyOf: (item: T) => string
  #items: readonly T[] = []
  #places = new Map<string, number[]>()

  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf
  }

  /** Goes on to another list. */
  move(items: readonly T[]): void {
    const last = this.#items
    this.#items = items
    if (items !== last && !this.#isAligned(last)) this.#places = this.#placesOf(items)
  }

  /** In order. */
  of(key: string): readonly number[] {
    return this.#places.get(key) ?? []
  }

  /** Whether the same keys stand at the same places as before. */
  #isAligned(last: readonly T[]): boolean {
    const items = this.#items
    if (items.length !== last.length) return false
    // counted: of most items nothing is looked at but whether they are the same
    for (let place = 0; place < items.length; place++) {
      const [item, before] = [items[place]!, last[place]!]
      if (item !== before && this.#keyOf(item) !== this.#keyOf(before)) return false
    }
    return true
  }

  #placesOf(items: readonly T[]): Map<string, number[]> {
    const places = new Map<string, number[]>()
    for (const [place, item] of items.entries()) {
      const key = this.#keyOf(item)
      const list = places.get(key)
      if (list) list.push(place)
      else places.set(key, [place])
    }
    return places
  }
}
