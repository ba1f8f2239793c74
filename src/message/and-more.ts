/** The end of a list that was cut: ` and 3 more`; '' if nothing was left out. Lists that are cut end in it, so that none is cut silently. */
export function andMore(left: number): string {
  return left > 0 ? ` and ${left} more` : ''
}

/** The first `most` names, and how many more there are: `a, b and 3 more`. */
export function firstNames(names: readonly string[], most: number, between = ', '): string {
  return `${names.slice(0, most).join(between)}${andMore(names.length - most)}`
}
