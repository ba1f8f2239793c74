/**
 * A fenced block of Markdown. The fence is longer than any run of backticks in the lines, so nothing in them ends the block, and
 * GitHub reads no mention, reference, link or HTML in it.
 */
export function fenced(language: string, lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.flatMap(line => [...line.matchAll(/`+/g)].map(run => run[0].length)))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}${language}`, ...lines, fence].join('\n')
}
