const AT_ONCE = 8

/** Asks about each item, some at a time, with the answers in order: GitHub wants no hundred requests at once. */
export async function inTurns<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let start = 0; start < items.length; start += AT_ONCE) {
    answers.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(ask))))
  }
  return answers
}
