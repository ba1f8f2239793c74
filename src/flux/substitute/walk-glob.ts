import { runeAt } from './rune.ts'

/** A glob that is no glob, as far as it was looked at. */
const BAD = 'bad'

type Spend = (comparisons: number) => void

/**
 * matchingPrefix step by step as Go does it, for what is not plain: characters of several bytes, of which Go looks at
 * single ones where a prefix or a star ends inside, and broken globs, which fail only where Go gets that far.
 */
export function walkGlob(pattern: Uint8Array, text: Uint8Array, which: 'shortest' | 'longest', spend: Spend): number {
  let shortest = 0
  for (let length = text.length; length > 0; length--) {
    const found = match(pattern, text.subarray(0, length), spend)
    if (found === BAD) return 0
    if (!found) continue
    if (which === 'longest') return length
    shortest = length
  }
  return shortest
}

function match(pattern: Uint8Array, text: Uint8Array, spend: Spend): boolean | typeof BAD {
  let at = 0
  let rest = text
  while (at < pattern.length) {
    const { star, chunk, end } = nextChunk(pattern, at)
    at = end
    if (star && chunk.length === 0) return true
    const last = at >= pattern.length
    const first = matchChunk(chunk, rest, spend)
    if (typeof first === 'number' && (first === rest.length || !last)) {
      rest = rest.subarray(first)
      continue
    }
    if (first === BAD) return BAD
    if (!star) return false
    const skipped = skipTo(chunk, rest, last, spend)
    if (typeof skipped !== 'number') return skipped
    rest = rest.subarray(skipped)
  }
  return rest.length === 0
}

/** Where a chunk ends that a star comes before, the star taking at least one byte. */
function skipTo(chunk: Uint8Array, text: Uint8Array, last: boolean, spend: Spend): number | false | typeof BAD {
  for (let from = 1; from <= text.length; from++) {
    const found = matchChunk(chunk, text.subarray(from), spend)
    if (found === BAD) return BAD
    if (found === undefined || (last && from + found < text.length)) continue
    return from + found
  }
  return false
}

const [STAR, QUESTION, OPEN, CLOSE, NOT, MINUS, ESCAPE] = [...'*?[]^-\\'].map(character => character.charCodeAt(0))

function nextChunk(pattern: Uint8Array, start: number): { star: boolean; chunk: Uint8Array; end: number } {
  let from = start
  while (pattern[from] === STAR) from++
  let end = from
  for (let inClass = false; end < pattern.length; end++) {
    const byte = pattern[end]
    if (byte === ESCAPE) end += end + 1 < pattern.length ? 1 : 0
    else if (byte === OPEN) inClass = true
    else if (byte === CLOSE) inClass = false
    else if (byte === STAR && !inClass) break
  }
  return { star: from > start, chunk: pattern.subarray(from, end), end }
}

/** How many bytes of the beginning of `text` a chunk without stars takes; undefined where it does not match. */
function matchChunk(chunk: Uint8Array, text: Uint8Array, spend: Spend): number | undefined | typeof BAD {
  let at = 0
  let used = 0
  while (at < chunk.length) {
    spend(1)
    if (used >= text.length) return undefined
    if (chunk[at] === OPEN) {
      const { rune, width } = runeAt(text, used)
      used += width
      const found = matchClass(chunk, at + 1, rune)
      if (typeof found !== 'number') return found
      at = found
    } else if (chunk[at] === QUESTION) {
      used += runeAt(text, used).width
      at++
    } else {
      if (chunk[at] === ESCAPE && ++at >= chunk.length) return BAD
      if (chunk[at] !== text[used]) return undefined
      used++
      at++
    }
  }
  return used
}

function matchClass(chunk: Uint8Array, start: number, rune: number): number | undefined | typeof BAD {
  let at = start
  const negated = chunk[at] === NOT
  if (negated) at++
  let matched = false
  for (let ranges = 0; ranges === 0 || chunk[at] !== CLOSE; ranges++) {
    const low = member(chunk, at)
    if (low === BAD) return BAD
    const high = chunk[low.end] === MINUS ? member(chunk, low.end + 1) : low
    if (high === BAD) return BAD
    at = high.end
    if (low.rune <= rune && rune <= high.rune) matched = true
  }
  return matched === negated ? undefined : at + 1
}

function member(chunk: Uint8Array, start: number): { rune: number; end: number } | typeof BAD {
  const first = chunk[start]
  if (first === undefined || first === MINUS || first === CLOSE) return BAD
  const at = first === ESCAPE ? start + 1 : start
  if (at >= chunk.length) return BAD
  const { rune, width } = runeAt(chunk, at)
  return at + width < chunk.length ? { rune, end: at + width } : BAD
}
