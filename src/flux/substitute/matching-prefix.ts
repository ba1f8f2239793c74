import { TemplateError } from './template-error.ts'

/** One character of a glob that has a test of its own; `star` is any number of characters. */
type Element = 'star' | ((byte: number) => boolean)

/**
 * Length in bytes of the shortest or longest prefix of `text` that `pattern` matches; 0 where none does. The globs are
 * those of Go's path.Match, but a star takes slashes too. `spend` is told how many comparisons are about to be made.
 * Throws TemplateError for a broken glob, and where `?` or a class would meet characters of several bytes.
 */
export function matchingPrefix(
  pattern: string,
  text: string,
  which: 'shortest' | 'longest',
  spend: (comparisons: number) => void,
): number {
  const bytes = Buffer.from(text)
  const glob = Buffer.from(pattern)
  const elements = compile(glob.toString('latin1'))
  if (!elements) throw new TemplateError('the pattern of # or % is not a valid glob', 'flux-unsupported')
  if (/[?[]/.test(pattern) && !(isAscii(bytes) && isAscii(glob))) {
    const message =
      'the glob of # or % has ? or [ beside characters that are not ASCII. Supported beside them: text and *'
    throw new TemplateError(message, 'flux-unsupported')
  }
  spend((elements.length + 1) * bytes.length)
  let best = 0
  for (const length of matches(elements, bytes)) {
    best = length
    if (which === 'shortest') break
  }
  return best
}

/** Lengths of the prefixes that match, shortest first: every state of the glob at once, so in linear time. */
function* matches(elements: readonly Element[], bytes: Uint8Array): Generator<number> {
  let states = new Uint8Array(elements.length + 1)
  states[0] = 1
  skipStars(elements, states)
  for (const [index, byte] of bytes.entries()) {
    const next = new Uint8Array(elements.length + 1)
    for (const [place, element] of elements.entries()) {
      if (!states[place]) continue
      if (element === 'star') next[place] = 1
      else if (element(byte)) next[place + 1] = 1
    }
    skipStars(elements, next)
    states = next
    if (states[elements.length]) yield index + 1
  }
}

function skipStars(elements: readonly Element[], states: Uint8Array): void {
  for (const [place, element] of elements.entries()) if (states[place] && element === 'star') states[place + 1] = 1
}

/** `pattern` has one character for each byte. Undefined for what path.Match calls a syntax error. */
function compile(pattern: string): Element[] | undefined {
  const elements: Element[] = []
  for (let at = 0; at < pattern.length; ) {
    const character = pattern.charAt(at)
    if (character === '[') {
      const found = compileClass(pattern, at + 1)
      if (!found) return undefined
      elements.push(found.test)
      at = found.end
      continue
    }
    if (character === '*') elements.push('star')
    else if (character === '?') elements.push(() => true)
    else {
      const code = pattern.charCodeAt(character === '\\' ? ++at : at)
      if (Number.isNaN(code)) return undefined
      elements.push(byte => byte === code)
    }
    at++
  }
  return elements
}

function compileClass(pattern: string, start: number): { test: (byte: number) => boolean; end: number } | undefined {
  const negated = pattern.charAt(start) === '^'
  const ranges: [number, number][] = []
  let at = negated ? start + 1 : start
  while (ranges.length === 0 || pattern.charAt(at) !== ']') {
    const low = member(pattern, at)
    if (!low) return undefined
    at = low.end
    const high = pattern.charAt(at) === '-' ? member(pattern, at + 1) : low
    if (!high) return undefined
    at = high.end
    ranges.push([low.code, high.code])
  }
  return { test: byte => ranges.some(([low, high]) => low <= byte && byte <= high) !== negated, end: at + 1 }
}

function member(pattern: string, at: number): { code: number; end: number } | undefined {
  const first = pattern.charAt(at)
  if (first === '' || first === '-' || first === ']') return undefined
  const place = first === '\\' ? at + 1 : at
  // something has to follow: a class is closed
  return place + 1 < pattern.length ? { code: pattern.charCodeAt(place), end: place + 1 } : undefined
}

const isAscii = (bytes: Uint8Array): boolean => bytes.every(byte => byte < 0x80)
