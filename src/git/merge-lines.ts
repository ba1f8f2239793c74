import { histogramDiff } from './histogram-diff.ts'
import { slideChanges } from './slide-changes.ts'

/**
 * Three-way merge of text as git's `ort` merges it (histogram diff, changes that touch conflict): changes of both sides are
 * kept, equal ones once. `unknown`: how git pairs the lines is not followed here. Held to git by test/git/merge.oracle.test.ts.
 */
export function mergeLines(
  base: string,
  ours: string,
  theirs: string,
): { readonly text: string } | 'conflict' | 'unknown' {
  const [o, a, b] = [base, ours, theirs].map(linesOf) as [string[], string[], string[]]
  const mine = changesOf(o, a)
  const other = changesOf(o, b)
  if (!mine || !other) return 'unknown'
  if (mine.length === 0) return { text: theirs }
  if (other.length === 0) return { text: ours }
  const parts = join(mine, other, a, b)
  return parts === 'conflict' ? 'conflict' : { text: print(parts, a, b) }
}

/** A run of lines of the base, from `at`, `length` long, and what a side has instead. */
interface Change {
  readonly at: number
  readonly length: number
  readonly to: number
  readonly toLength: number
}

/** A run of lines of ours and of theirs that stand for the same lines of the base. */
interface Part {
  side: 'ours' | 'theirs' | 'both'
  ours: { at: number; length: number }
  theirs: { at: number; length: number }
}

/** Lines with their ends, so that a missing line break at the end of a file is a difference. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function changesOf(base: readonly string[], side: readonly string[]): Change[] | undefined {
  const changed = histogramDiff(base, side)
  if (!changed) return undefined
  slideChanges(base, changed.before, changed.after)
  slideChanges(side, changed.after, changed.before)
  const changes: Change[] = []
  let [x, y] = [0, 0]
  while (x < base.length || y < side.length) {
    const [at, to] = [x, y]
    while (changed.before[x]) x++
    while (changed.after[y]) y++
    if (x > at || y > to) changes.push({ at, length: x - at, to, toLength: y - to })
    x++
    y++
  }
  return changes
}

function join(
  mine: readonly Change[],
  other: readonly Change[],
  a: readonly string[],
  b: readonly string[],
): readonly Part[] | 'conflict' {
  const parts: Part[] = []
  let [i, j] = [0, 0]
  // how far each side has moved away from the base
  let [aOff, bOff] = [0, 0]
  const endOf = (change: Change) => change.at + change.length
  while (i < mine.length || j < other.length) {
    const [one, two] = [mine[i], other[j]]
    if (one && (!two || endOf(one) < two.at)) {
      add(parts, 'ours', { at: one.to, length: one.toLength }, { at: one.at + bOff, length: one.length })
      aOff = one.to + one.toLength - endOf(one)
      i++
    } else if (two && (!one || endOf(two) < one.at)) {
      add(parts, 'theirs', { at: two.at + aOff, length: two.length }, { at: two.to, length: two.toLength })
      bOff = two.to + two.toLength - endOf(two)
      j++
    } else {
      if (!isSame(one!, two!, a, b)) addOverlap(parts, one!, two!)
      const [first, second] = [endOf(one!), endOf(two!)]
      if (first >= second) {
        bOff = two!.to + two!.toLength - second
        j++
      }
      if (second >= first) {
        aOff = one!.to + one!.toLength - first
        i++
      }
    }
  }
  return parts.every(part => part.side !== 'both' || isEqual(part, a, b)) ? parts : 'conflict'
}

const isSame = (one: Change, two: Change, a: readonly string[], b: readonly string[]) =>
  one.at === two.at &&
  one.length === two.length &&
  one.toLength === two.toLength &&
  a.slice(one.to, one.to + one.toLength).join('') === b.slice(two.to, two.to + two.toLength).join('')

/** Both sides changed these lines, or lines that touch: it is no conflict where the whole of it is equal. */
function addOverlap(parts: Part[], one: Change, two: Change): void {
  const above = one.at - two.at
  const below = one.at + one.length - (two.at + two.length)
  const [a, b] = [one.to - Math.max(above, 0), two.to - Math.max(-above, 0)]
  add(
    parts,
    'both',
    { at: a, length: one.to + one.toLength - a + Math.max(-below, 0) },
    { at: b, length: two.to + two.toLength - b + Math.max(below, 0) },
  )
}

function add(parts: Part[], side: Part['side'], ours: Part['ours'], theirs: Part['theirs']): void {
  const last = parts.at(-1)
  const touches =
    last && (ours.at <= last.ours.at + last.ours.length || theirs.at <= last.theirs.at + last.theirs.length)
  if (!touches) {
    parts.push({ side, ours, theirs })
    return
  }
  if (last.side !== side) last.side = 'both'
  last.ours.length = ours.at + ours.length - last.ours.at
  last.theirs.length = theirs.at + theirs.length - last.theirs.at
}

// git does not look for equal text where a side has none
const isEqual = ({ ours, theirs }: Part, a: readonly string[], b: readonly string[]) =>
  ours.length > 0 &&
  ours.length === theirs.length &&
  a.slice(ours.at, ours.at + ours.length).join('') === b.slice(theirs.at, theirs.at + theirs.length).join('')

function print(parts: readonly Part[], a: readonly string[], b: readonly string[]): string {
  let text = ''
  let at = 0
  for (const { side, ours, theirs } of parts) {
    if (side !== 'theirs') continue
    text += a.slice(at, ours.at).join('') + b.slice(theirs.at, theirs.at + theirs.length).join('')
    at = ours.at + ours.length
  }
  return text + a.slice(at).join('')
}
