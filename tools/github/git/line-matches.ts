/** A pair of line numbers (from 0) that hold the same line in both texts. */
type Match = readonly [number, number]

/** Splits into lines that keep their end, so that "no newline at the end" is a difference. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** A longest common subsequence of two lists of lines, by Myers' greedy algorithm (An O(ND) Difference Algorithm). */
export function matchLines(a: readonly string[], b: readonly string[]): Match[] {
  const head = commonHead(a, b)
  const tail = commonTail(a, b, head)
  const middle = myers(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  return [
    ...Array.from({ length: head }, (_, i): Match => [i, i]),
    ...middle.map(([i, j]): Match => [i + head, j + head]),
    ...Array.from({ length: tail }, (_, i): Match => [a.length - tail + i, b.length - tail + i]),
  ]
}

function commonHead(a: readonly string[], b: readonly string[]): number {
  let n = 0
  while (n < a.length && n < b.length && a[n] === b[n]) n++
  return n
}

function commonTail(a: readonly string[], b: readonly string[], head: number): number {
  let n = 0
  while (n < a.length - head && n < b.length - head && a[a.length - 1 - n] === b[b.length - 1 - n]) n++
  return n
}

/** Beyond it two texts count as having nothing in common: memory grows with its square. */
const MOST_CHANGES = 2000

function myers(a: readonly string[], b: readonly string[]): Match[] {
  const furthest = new Map<number, number>([[1, 0]])
  const trace: Map<number, number>[] = []
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_CHANGES); d++) {
    trace.push(new Map(furthest))
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && furthest.get(k - 1)! < furthest.get(k + 1)!)
      let x = down ? furthest.get(k + 1)! : furthest.get(k - 1)! + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      furthest.set(k, x)
      if (x >= a.length && x - k >= b.length) return backtrack(trace, a.length, b.length)
    }
  }
  return []
}

function backtrack(trace: readonly Map<number, number>[], endX: number, endY: number): Match[] {
  const matches: Match[] = []
  let x = endX
  let y = endY
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = trace[d]!
    const k = x - y
    const down = k === -d || (k !== d && furthest.get(k - 1)! < furthest.get(k + 1)!)
    const previousK = down ? k + 1 : k - 1
    const previousX = furthest.get(previousK)!
    while (x > Math.max(previousX, 0) && y > Math.max(previousX - previousK, 0)) matches.push([--x, --y])
    x = previousX
    y = previousX - previousK
  }
  return matches.reverse()
}
