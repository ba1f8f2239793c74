import type { Fields } from './jmespath/values.ts'

/** A parenthesized key of a pattern and its prefix; the prefix '' marks a condition. */
export interface Anchor {
  readonly modifier: '' | '=' | '^' | 'X' | '<' | '+'
  readonly key: string
}

export function readAnchor(written: string): Anchor | undefined {
  if (!written.endsWith(')')) return undefined
  const [, modifier, key] = /^([+<=X^]?)\((.+)\)$/s.exec(written) ?? []
  return key === undefined ? undefined : { modifier: modifier as Anchor['modifier'], key }
}

/** Records which anchors of a pattern exist in the object. If one never does, Kyverno reports a failure as an error. */
export class Anchors {
  readonly #seen = new Map<string, boolean>()

  see(pattern: Fields, given: Fields): void {
    for (const written of pattern.keys()) {
      const anchor = readAnchor(written)
      if (!anchor || !['', '^', 'X'].includes(anchor.modifier)) continue
      if (this.#seen.get(written) !== true) this.#seen.set(written, given.has(anchor.key))
    }
  }

  areMissing(): boolean {
    return [...this.#seen].some(([written, isThere]) => !isThere && readAnchor(written)?.modifier !== 'X')
  }
}
