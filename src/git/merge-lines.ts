/** More differing lines than this on one side are not aligned: memory grows with the square. */
const MOST_CHANGES = 400

/**
 * Three-way merge of text as git merges it: changes of both sides are kept, equal ones once. `conflict`: both sides changed
 * the same lines, or lines that touch; `unknown`: the texts differ too much to be aligned here.
 */
export function mergeLines(
  base: string,
  ours: string,
  theirs: string,
): { readonly text: string } | 'conflict' | 'unknown' {
  const [o, a, b] = [base, ours, theirs].map(linesOf) as [string[], string[], string[]]
  const inOurs = keptLines(o, a)
  const inTheirs = keptLines(o, b)
  if (!inOurs || !inTheirs) return 'unknown'
  const out: string[] = []
  let at = { o: 0, a: 0, b: 0 }
  for (;;) {
    let next = at.o
    while (next < o.length && !(inOurs.has(next) && inTheirs.has(next))) next++
    const end =
      next < o.length
        ? { o: next, a: inOurs.get(next)!, b: inTheirs.get(next)! }
        : { o: o.length, a: a.length, b: b.length }
    const [was, mine, other] = [o.slice(at.o, end.o), a.slice(at.a, end.a), b.slice(at.b, end.b)].map(part =>
      part.join(''),
    )
    if (mine === other || other === was) out.push(mine!)
    else if (mine === was) out.push(other!)
    else return 'conflict'
    if (next >= o.length) return { text: out.join('') }
    out.push(o[next]!)
    at = { o: end.o + 1, a: end.a + 1, b: end.b + 1 }
  }
}

/** Lines with their ends, so that a missing line break at the end of a file is a difference. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** Lines of `before` that stand in `after` too, by a shortest edit script (Myers, An O(ND) Difference Algorithm). */
function keptLines(before: readonly string[], after: readonly string[]): ReadonlyMap<number, number> | undefined {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const kept = new Map<number, number>()
  for (let line = 0; line < head; line++) kept.set(line, line)
  const middle = shortestEdit(before.slice(head, before.length - tail), after.slice(head, after.length - tail))
  if (!middle) return undefined
  for (const [one, other] of middle) kept.set(head + one, head + other)
  for (let line = tail; line > 0; line--) kept.set(before.length - line, after.length - line)
  return kept
}

function shortestEdit(a: readonly string[], b: readonly string[]): [number, number][] | undefined {
  const furthest = new Map<number, number>([[1, 0]])
  const trace: Map<number, number>[] = []
  const isDown = (reached: ReadonlyMap<number, number>, k: number, d: number) =>
    k === -d || (k !== d && reached.get(k - 1)! < reached.get(k + 1)!)
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_CHANGES); d++) {
    trace.push(new Map(furthest))
    for (let k = -d; k <= d; k += 2) {
      let x = isDown(furthest, k, d) ? furthest.get(k + 1)! : furthest.get(k - 1)! + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      furthest.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length, isDown)
    }
  }
  return undefined
}

function walkBack(
  trace: readonly ReadonlyMap<number, number>[],
  endX: number,
  endY: number,
  isDown: (reached: ReadonlyMap<number, number>, k: number, d: number) => boolean,
): [number, number][] {
  const kept: [number, number][] = []
  let [x, y] = [endX, endY]
  for (let d = trace.length - 1; d >= 0; d--) {
    const reached = trace[d]!
    const k = x - y
    const from = isDown(reached, k, d) ? k + 1 : k - 1
    const fromX = reached.get(from)!
    while (x > Math.max(fromX, 0) && y > Math.max(fromX - from, 0)) kept.push([--x, --y])
    x = fromX
    y = fromX - from
  }
  return kept.reverse()
}
