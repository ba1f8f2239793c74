/** Lines that stand more often than this are no anchors for git: it turns to another algorithm, which is not followed here. */
const MOST_OCCURRENCES = 64

/** What comparing lines may cost, in comparisons: a hostile file must not make it grow with the square. */
const MOST_COMPARISONS = 4_000_000

/** Which lines of two texts have no partner in the other one. */
interface ChangedLines {
  readonly before: boolean[]
  readonly after: boolean[]
}

interface Span {
  readonly from: readonly [number, number]
  readonly to: readonly [number, number]
}

/**
 * Pairs lines as git's histogram diff does (the one that its merges use): around the common run that holds the rarest line,
 * the longest of them, then before and behind it. Undefined where git leaves that algorithm, or the texts cost too much.
 */
export function histogramDiff(before: readonly string[], after: readonly string[]): ChangedLines | undefined {
  const changed = { before: before.map(() => true), after: after.map(() => true) }
  const cost = { left: MOST_COMPARISONS }
  const open: Span[] = [{ from: [0, 0], to: [before.length, after.length] }]
  for (let span = open.pop(); span; span = open.pop()) {
    if (span.from[0] >= span.to[0] || span.from[1] >= span.to[1]) continue
    cost.left -= span.to[0] - span.from[0] + span.to[1] - span.from[1]
    if (cost.left < 0) return undefined
    const run = rarestRun(before, after, span, cost)
    if (run === 'unknown') return undefined
    if (!run) continue
    changed.before.fill(false, run.from[0], run.to[0])
    changed.after.fill(false, run.from[1], run.to[1])
    open.push({ from: span.from, to: run.from }, { from: run.to, to: span.to })
  }
  return changed
}

/** The lines of `before` within a span: where each stands, in order. */
function placesOf(before: readonly string[], { from, to }: Span): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (let line = from[0]; line < to[0]; line++) {
    const known = places.get(before[line]!)
    if (known) known.push(line)
    else places.set(before[line]!, [line])
  }
  return places
}

function rarestRun(
  before: readonly string[],
  after: readonly string[],
  span: Span,
  cost: { left: number },
): Span | undefined | 'unknown' {
  const places = placesOf(before, span)
  let best: Span | undefined
  let rarest = MOST_OCCURRENCES + 1
  let isAnyCommon = false
  for (let line = span.from[1]; line < span.to[1]; ) {
    const found = places.get(after[line]!)
    let next = line + 1
    if (found) isAnyCommon = true
    let behind = -1
    // the limit is that of the moment when the line is looked up
    for (const place of found && found.length <= rarest ? found : []) {
      if (place < behind) continue
      const run = runAround(before, after, span, [place, line])
      let count = found!.length
      for (let at = run.from[0]; at < run.to[0] && count > 1; at++)
        count = Math.min(count, places.get(before[at]!)!.length)
      const length = run.to[0] - run.from[0]
      cost.left -= length
      if (cost.left < 0) return 'unknown'
      next = Math.max(next, run.to[1])
      if (length > (best ? best.to[0] - best.from[0] : 1) || count < rarest) {
        best = run
        rarest = count
      }
      behind = run.to[0]
    }
    line = next
  }
  return isAnyCommon && rarest > MOST_OCCURRENCES ? 'unknown' : best
}

/** The common run that goes through a pair of equal lines. */
function runAround(
  before: readonly string[],
  after: readonly string[],
  span: Span,
  [x, y]: readonly [number, number],
): Span {
  let back = 0
  while (x - back > span.from[0] && y - back > span.from[1] && before[x - back - 1] === after[y - back - 1]) back++
  let on = 1
  while (x + on < span.to[0] && y + on < span.to[1] && before[x + on] === after[y + on]) on++
  return { from: [x - back, y - back], to: [x + on, y + on] }
}
