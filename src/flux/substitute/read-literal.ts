/**
 * The value of a literal block scalar, header and lines, whose lines are indented by `indent`, as go-yaml v2 reads it.
 * Undefined where its first lines would make it take another indent, or where it ends early.
 */
export function readLiteral(text: string, indent: number): string | undefined {
  const [header = '', ...lines] = text.split('\n')
  if (!header.includes('2') && !keepsIndent(lines, indent)) return undefined
  const out: string[] = []
  let breaks = ''
  for (const line of lines) {
    if (/^ *$/.test(line) && line.length <= indent) {
      breaks += '\n'
      continue
    }
    if (!line.startsWith(' '.repeat(indent))) return undefined
    out.push(breaks, line.slice(indent))
    breaks = '\n'
  }
  if (header.endsWith('+')) return out.join('') + breaks
  return header.endsWith('-') || out.length === 0 ? out.join('') : `${out.join('')}\n`
}

/** Without a hint the indent is that of the first line with text, or of a longer blank line before it. */
function keepsIndent(lines: readonly string[], indent: number): boolean {
  const first = lines.findIndex(line => !/^ *$/.test(line))
  const before = first < 0 ? lines : lines.slice(0, first)
  if (before.some(line => line.length > indent)) return false
  return first < 0 || /^ *(?![ \t])/.exec(lines[first]!)?.[0].length === indent
}
