import { refuseInvalid } from './pattern-error.ts'

const CONTROLS = new Map(Object.entries({ a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }))

/**
 * The character that an escape stands for, and how many characters of `rest` (what follows the backslash) it takes: those
 * of Go's regexp/syntax. Throws PatternError for any other.
 */
export function parseEscape(rest: readonly string[]): { char: string; length: number } {
  const first = rest[0]
  if (first === undefined) refuseInvalid('a backslash at its end')
  if (first === 'x') return hexadecimal(rest)
  const octal = /^(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest.slice(0, 3).join(''))?.[0]
  if (octal) return { char: String.fromCodePoint(Number.parseInt(octal, 8)), length: octal.length }
  const control = CONTROLS.get(first)
  if (control) return { char: control, length: 1 }
  if (/^[\0-\x7f]$/.test(first) && !/[0-9A-Za-z]/.test(first)) return { char: first, length: 1 }
  return refuseInvalid('an escape that there is not')
}

function hexadecimal(rest: readonly string[]): { char: string; length: number } {
  const [all, braced, plain] = /^x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))/.exec(rest.slice(0, 1_000).join('')) ?? []
  const code = Number.parseInt(braced ?? plain ?? '', 16)
  if (all === undefined || !(code <= 0x10ffff)) refuseInvalid('an escape \\x of no character')
  return { char: String.fromCodePoint(code), length: all.length }
}
