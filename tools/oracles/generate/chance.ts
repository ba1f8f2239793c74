import type { GeneratorValue } from 'fast-check'
import fc from 'fast-check'

/** What a generated case is decided by: every decision is one value of fast-check. */
export class Chance {
  private readonly g: GeneratorValue

  constructor(g: GeneratorValue) {
    this.g = g
  }

  /** 0 to `max`, both included. */
  upTo(max: number): number {
    return this.g(fc.nat, max)
  }

  /** True in `percent` of a hundred cases. */
  is(percent: number): boolean {
    return this.upTo(99) < percent
  }

  pick<T>(values: readonly T[]): T {
    return values[this.upTo(values.length - 1)]!
  }

  /** Values in their order, each in or out. */
  some<T>(values: readonly T[], percent = 50): T[] {
    return values.filter(() => this.is(percent))
  }

  /** `min` to `max` values of `make`. */
  list<T>(min: number, max: number, make: (index: number) => T): T[] {
    return Array.from({ length: min + this.upTo(max - min) }, (_, index) => make(index))
  }

  /** `{key: make()}` in `percent` of a hundred cases, else nothing: to be spread into an object. */
  maybe<K extends string, V>(percent: number, key: K, make: () => V): { [P in K]?: V } {
    return (this.is(percent) ? { [key]: make() } : {}) as { [P in K]?: V }
  }
}
