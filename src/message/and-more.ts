/** What stands behind the first of a list: ` and 3 more`; '' where none is left out. Whoever cuts a list uses it, so that no list is cut silently. */
export function andMore(left: number): string {
  return left > 0 ? ` and ${left} more` : ''
}

/** The first `most` names, and how many more there are: `a, b and 3 more`. */
export function firstNames(names: readonly string[], most: number, between = ', '): string {
  return `${names.slice(0, most).join(between)}${andMore(names.length - most)}`
}
