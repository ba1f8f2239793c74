/** A scalar on one line. */
const TOKEN = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#,[\]{}]+)/

/** The value at a 1-based column of a line; undefined behind its end. */
export function markedValue(
  line: string,
  column: number,
): { readonly start: number; readonly end: number } | undefined {
  const start = Math.max(0, column - 1)
  if (start >= line.length) return undefined
  const value = TOKEN.exec(line.slice(start))?.[0] ?? line.slice(start, start + 1)
  return { start, end: start + value.length }
}
