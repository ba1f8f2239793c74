const MAX_NAMED = 5

/** The first names, and how many more there are. The names are as they may stand in a message. */
export function fewNames(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED
  return names.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
