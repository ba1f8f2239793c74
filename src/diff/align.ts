/** Two sequences put side by side: what stands on both sides, and what on one only. Indices ascend. */
interface Alignment {
  readonly same: readonly (readonly [before: number, after: number])[]
  readonly removed: readonly number[]
  readonly added: readonly number[]
}

/** A table of more cells is not made: what differs is then removed and added as a whole. */
const MAX_CELLS = 40_000

/** The longest common subsequence of texts, after what both begin and end with. */
export function align(before: readonly string[], after: readonly string[]): Alignment {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const same: [number, number][] = Array.from({ length: head }, (_, at) => [at, at])
  const [a, b] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)]
  for (const [i, j] of common(a, b)) same.push([head + i, head + j])
  for (let at = tail; at > 0; at--) same.push([before.length - at, after.length - at])
  const [left, right] = [new Set(same.map(([i]) => i)), new Set(same.map(([, j]) => j))]
  return {
    same,
    removed: [...before.keys()].filter(at => !left.has(at)),
    added: [...after.keys()].filter(at => !right.has(at)),
  }
}

function common(a: readonly string[], b: readonly string[]): [number, number][] {
  if (a.length === 0 || b.length === 0 || a.length * b.length > MAX_CELLS) return []
  const width = b.length + 1
  const table = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => table[i * width + j]!
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const found: [number, number][] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) found.push([i++, j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return found
}
