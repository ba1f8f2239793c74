/** A run of changed lines, which may be empty: between two lines that were kept there is always one. */
interface Group {
  start: number
  end: number
}

/**
 * Moves runs of changed lines to where git shows them: a run that could stand higher or lower (its neighbor is equal to its
 * other end) goes to the last place where the other text has a change, too, or as far down as it can. Changes `changed`.
 */
export function slideChanges(lines: readonly string[], changed: boolean[], others: readonly boolean[]): void {
  const group = groupAt(changed, 0)
  const other = groupAt(others, 0)
  for (;;) {
    if (group.end > group.start) settle(lines, changed, group, others, other)
    if (!toNext(changed, group)) return
    toNext(others, other)
  }
}

function settle(
  lines: readonly string[],
  changed: boolean[],
  group: Group,
  others: readonly boolean[],
  other: Group,
): void {
  let highest: number
  let isFacing: boolean
  let size: number
  do {
    size = group.end - group.start
    while (slideUp(lines, changed, group)) toPrevious(others, other)
    highest = group.end
    isFacing = other.end > other.start
    while (slideDown(lines, changed, group)) {
      toNext(others, other)
      if (other.end > other.start) isFacing = true
    }
    // a run that met another one has grown: it may slide farther
  } while (size !== group.end - group.start)
  if (group.end === highest || !isFacing) return
  while (other.end === other.start && slideUp(lines, changed, group)) toPrevious(others, other)
}

function groupAt(changed: readonly boolean[], start: number): Group {
  let end = start
  while (changed[end]) end++
  return { start, end }
}

function toNext(changed: readonly boolean[], group: Group): boolean {
  if (group.end >= changed.length) return false
  Object.assign(group, groupAt(changed, group.end + 1))
  return true
}

function toPrevious(changed: readonly boolean[], group: Group): void {
  if (group.start === 0) return
  group.end = group.start - 1
  group.start = group.end
  while (changed[group.start - 1]) group.start--
}

function slideDown(lines: readonly string[], changed: boolean[], group: Group): boolean {
  if (group.end >= lines.length || lines[group.start] !== lines[group.end]) return false
  changed[group.start++] = false
  changed[group.end++] = true
  while (changed[group.end]) group.end++
  return true
}

function slideUp(lines: readonly string[], changed: boolean[], group: Group): boolean {
  if (group.start === 0 || lines[group.start - 1] !== lines[group.end - 1]) return false
  changed[--group.start] = true
  changed[--group.end] = false
  while (changed[group.start - 1]) group.start--
  return true
}
