import { matchLines, splitLines } from './line-matches.ts'

/**
 * Three-way merge of text, as git does it: changes of both sides are kept, equal ones once; changes that overlap
 * or touch without an unchanged line between them are a conflict, which is undefined here.
 */
export function mergeLines(base: string, ours: string, theirs: string): string | undefined {
  const o = splitLines(base)
  const a = splitLines(ours)
  const b = splitLines(theirs)
  const inA = new Map(matchLines(o, a))
  const inB = new Map(matchLines(o, b))
  const out: string[] = []
  let [i, j, k] = [0, 0, 0]
  for (;;) {
    const next = nextStable(i, o.length, inA, inB)
    const [endO, endA, endB] = next ?? [o.length, a.length, b.length]
    const chunk = mergeChunk(o.slice(i, endO), a.slice(j, endA), b.slice(k, endB))
    if (!chunk) return undefined
    out.push(...chunk)
    if (!next) return out.join('')
    out.push(o[endO]!)
    i = endO + 1
    j = endA + 1
    k = endB + 1
  }
}

/** The next line of the base that both sides kept. */
function nextStable(from: number, end: number, inA: Map<number, number>, inB: Map<number, number>) {
  for (let line = from; line < end; line++) {
    const a = inA.get(line)
    const b = inB.get(line)
    if (a !== undefined && b !== undefined) return [line, a, b] as const
  }
  return undefined
}

function mergeChunk(o: readonly string[], a: readonly string[], b: readonly string[]) {
  const [base, ours, theirs] = [o.join(''), a.join(''), b.join('')]
  if (ours === theirs || theirs === base) return a
  if (ours === base) return b
  return undefined
}
