import type { Rendered } from './object-table.ts'

/**
 * How objects are found by texts that they hold: `of` gives the texts of one. The same id is the same naming, and one that
 * reads more than the object and whose it is needs facts of its own.
 */
export interface Naming {
  readonly id: string
  readonly of: (rendered: Rendered) => Iterable<string>
}

/** Objects by the texts that a naming gives, each once for a text. */
export function byText(all: readonly Rendered[], { of }: Naming): ReadonlyMap<string, readonly Rendered[]> {
  const found = new Map<string, Rendered[]>()
  for (const one of all) {
    for (const text of new Set(of(one))) {
      const list = found.get(text)
      if (list) list.push(one)
      else found.set(text, [one])
    }
  }
  return found
}
