/** A label and what follows it: `  fix      Set ...`. */
const LABEL = /^ *(?:[a-z]+|-{1,2}[^ ].*?) {2,}(?=\S)/
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ESCAPES = /\u001b\[[\d;]*m|\u001b\]8;;[^\u001b]*\u001b\\/g
/** A label that leaves less room than half of the line does not indent what continues. */
const DEEPEST = 40

/**
 * Lines of at most `width` characters, broken at spaces; what continues stands below what it continues, right of a label. A single
 * word stays whole, because a path or an address that is broken can be neither opened nor copied.
 */
export function fitLines(lines: readonly string[], width: number): string[] {
  return lines.flatMap(line => (lengthOf(line) <= width ? [line] : fitted(line, width)))
}

/** Colors and links take no room: https://ecma-international.org/publications-and-standards/standards/ecma-48 */
const lengthOf = (text: string) => text.replace(ESCAPES, '').length

function fitted(line: string, width: number): string[] {
  const [start = ''] = /^ */.exec(line) ?? []
  const label = LABEL.exec(line)?.[0] ?? start
  const hanging = ' '.repeat(label !== start && label.length <= DEEPEST ? label.length : start.length + 2)
  const made: string[] = []
  let current = label
  let isEmpty = true
  for (const word of line.slice(label.length).split(' ')) {
    if (!isEmpty && lengthOf(current) + 1 + lengthOf(word) > width) {
      made.push(current)
      current = hanging
      isEmpty = true
    }
    current += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...made, current]
}
