import { BailiwickError } from '../../base/errors.ts'

/**
 * Reads JSON that another process sent, value by value and within limits. Each method throws `cluster-invalid` that names
 * the place, never the value.
 */
export class JsonReader {
  readonly #value: unknown
  readonly #at: string

  constructor(value: unknown, at: string) {
    this.#value = value
    this.#at = at
  }

  /** Of the whole text. */
  static parse(text: string, at: string): JsonReader {
    try {
      return new JsonReader(JSON.parse(text), at)
    } catch {
      throw new BailiwickError('cluster-invalid', `${at}: is not JSON`)
    }
  }

  /** A field of a map. An inherited name is not one. */
  field(key: string): JsonReader {
    const value = this.#map()
    return new JsonReader(Object.hasOwn(value, key) ? value[key] : undefined, `${this.#at}.${key}`)
  }

  /** The same; undefined where it is absent. */
  optional(key: string): JsonReader | undefined {
    const found = this.field(key)
    return found.#value === undefined ? undefined : found
  }

  list(most: number): readonly JsonReader[] {
    if (!Array.isArray(this.#value)) throw this.#wrong('is not a list')
    if (this.#value.length > most) throw this.#wrong(`has more than ${most} entries`)
    return this.#value.map((item: unknown, index) => new JsonReader(item, `${this.#at}[${index}]`))
  }

  text(longest: number, pattern?: RegExp): string {
    if (typeof this.#value !== 'string') throw this.#wrong('is not a string')
    if (this.#value.length > longest) throw this.#wrong(`is longer than ${longest} characters`)
    if (pattern && !pattern.test(this.#value)) throw this.#wrong('is not written as it must be')
    return this.#value
  }

  whole(most: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.#value
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value
    throw this.#wrong(`is not a whole number up to ${most}`)
  }

  flag(): boolean {
    if (typeof this.#value === 'boolean') return this.#value
    throw this.#wrong('is neither true nor false')
  }

  oneOf<T extends string>(words: readonly T[]): T {
    const found = words.find(word => word === this.#value)
    if (found !== undefined) return found
    throw this.#wrong(`is not one of ${words.join(', ')}`)
  }

  #map(): Readonly<Record<string, unknown>> {
    const value = this.#value
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    throw this.#wrong('is not a map')
  }

  #wrong(what: string): BailiwickError {
    return new BailiwickError('cluster-invalid', `${this.#at} ${what}`)
  }
}
