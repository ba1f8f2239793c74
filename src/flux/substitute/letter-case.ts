import { TemplateError } from './template-error.ts'

/** Letters that got the other case only in Unicode 16 or later: Flux is built with a Go that knows Unicode 15. */
const LATER = /[\u019b\u0264\u1c89\u1c8a\ua7cb-\ua7dc\u{10d50}-\u{10d85}\u{16ea0}-\u{16ed3}]/u

/**
 * `^` and `^^` make the first or every letter a capital, `,` and `,,` a small one, each character by itself as Go does:
 * no character becomes two. Throws TemplateError for the few characters where Go and JavaScript differ.
 */
export function letterCase(value: string, operator: '^' | '^^' | ',' | ',,'): string {
  const upper = operator.startsWith('^')
  if (operator.length === 1) {
    const [first = ''] = value
    return changed(first, upper) + value.slice(first.length)
  }
  return [...value].map(character => changed(character, upper)).join('')
}

function changed(character: string, upper: boolean): string {
  const result = upper ? character.toUpperCase() : character.toLowerCase()
  if ([...result].length === 1 && !LATER.test(character)) return result
  throw new TemplateError('the case of a character that not every version of Unicode knows', 'flux-unsupported')
}
