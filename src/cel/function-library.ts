import type { CelValue } from './values.ts'

/** Counts work; throws where it is too much. */
export type CountSteps = (steps: number) => void

/** A function of a library; undefined: no function of that name takes such arguments. */
type CelFunction = (args: readonly CelValue[], spend: CountSteps) => CelValue | undefined

/** Functions by name. Of a method the first argument is what it is called on. */
export interface FunctionTable {
  readonly functions?: Readonly<Record<string, CelFunction>>
  readonly methods?: Readonly<Record<string, CelFunction>>
}

/** The functions of an environment of CEL, beyond those that every expression has. */
export class FunctionLibrary {
  readonly maxLinks: number
  readonly #functions: ReadonlyMap<string, readonly CelFunction[]>
  readonly #methods: ReadonlyMap<string, readonly CelFunction[]>
  readonly #isStandard: (name: string, isMethod: boolean) => boolean

  /** `isStandard`: which of the functions that every expression has exist; `maxLinks`: operators in a row. */
  constructor(
    tables: readonly FunctionTable[],
    isStandard: (name: string, isMethod: boolean) => boolean,
    maxLinks: number,
  ) {
    this.#functions = byName(tables.map(table => table.functions ?? {}))
    this.#methods = byName(tables.map(table => table.methods ?? {}))
    this.#isStandard = isStandard
    this.maxLinks = maxLinks
  }

  knows(name: string, isMethod: boolean): boolean {
    return (isMethod ? this.#methods : this.#functions).has(name) || this.#isStandard(name, isMethod)
  }

  /** Undefined where no function of the library takes such arguments. */
  call(name: string, isMethod: boolean, args: readonly CelValue[], spend: CountSteps): CelValue | undefined {
    for (const one of (isMethod ? this.#methods : this.#functions).get(name) ?? []) {
      const value = one(args, spend)
      if (value !== undefined) return value
    }
    return undefined
  }
}

function byName(tables: readonly Readonly<Record<string, CelFunction>>[]): Map<string, CelFunction[]> {
  const all = new Map<string, CelFunction[]>()
  for (const table of tables) {
    for (const [name, one] of Object.entries(table)) all.set(name, [...(all.get(name) ?? []), one])
  }
  return all
}
