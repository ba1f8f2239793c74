/** The `count` names most like `name`, best first, for a message that lists what exists. */
export function closest(name: string, names: Iterable<string>, count = 20): string[] {
  const short = name.slice(0, MAX)
  return [...new Set(names)]
    .map(one => ({ one, distance: distance(short, one.slice(0, MAX)) }))
    .sort((a, b) => a.distance - b.distance || (a.one < b.one ? -1 : 1))
    .slice(0, count)
    .map(({ one }) => one)
}

/** The one name that `name` was probably meant to be; `most`: how many characters may differ. */
export function probably(
  name: string,
  names: Iterable<string>,
  most = Math.max(1, name.length / 4),
): string | undefined {
  const short = name.slice(0, MAX)
  let best: { readonly one: string; readonly distance: number } | undefined
  for (const one of names) {
    const other = one.slice(0, MAX)
    // every character that one has more is a difference: most names need no closer look
    if (Math.abs(other.length - short.length) > (best?.distance ?? most)) continue
    const found = distance(short, other)
    if (found > most || (best && (found > best.distance || (found === best.distance && one >= best.one)))) continue
    best = { one, distance: found }
  }
  return best?.one
}

const MAX = 200

/** The number of characters to insert, remove or replace and of neighbors to swap. */
function distance(a: string, b: string): number {
  let before: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwapped ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + same, swap))
    }
    before = row
    row = next
  }
  return row[b.length]!
}

/** The end of a list that was cut: ` and 3 more`; '' if nothing was left out. Lists that are cut end in it, so that none is cut silently. */
export function andMore(left: number): string {
  return left > 0 ? ` and ${left} more` : ''
}

/**
 * The first `most` of a list, each as `show` writes it, and how many more there are: `a, b and 3 more`. `besides`: how many
 * the list itself lacks.
 */
export function firstNames<T>(
  list: readonly T[],
  most: number,
  show: (one: T) => string = String,
  besides = 0,
): string {
  const shown = list.slice(0, most)
  return `${shown.map(one => show(one)).join(', ')}${andMore(list.length - shown.length + besides)}`
}
