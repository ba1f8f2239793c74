/** Room under GitHub's 65,535 characters for what GitHub or a caller adds. */
export const TEXT_BUDGET = 60_000

/** Room for the last line, which counts what was left out. */
export const CUT_NOTE = 600

const SHOWS_ALL = ' `bailiwick check` on the same commit shows everything.'

interface Fit {
  readonly more?: string | undefined
  readonly lines?: number
}

/**
 * Joins sections by blank lines within `TEXT_BUDGET` characters. What does not fit is left out from the end, whole sections
 * only, and the last line says how many of what are missing, and `more`: where all of it is. The first
 * paragraphs are never left out. Behind `lines` the rest is folded.
 */
export function fitBudget(
  paragraphs: string | readonly string[],
  sections: readonly Section[],
  { more = SHOWS_ALL, lines = Number.POSITIVE_INFINITY }: Fit = {},
): string {
  const head = [paragraphs]
    .flat()
    .filter(text => text !== '')
    .join('\n\n')
  const kept: Section[] = []
  const cut = new Map<string, number>()
  let used = head.length
  for (const section of sections) {
    const { label } = section
    if (cut.size === 0 && used + section.text.length + 2 <= TEXT_BUDGET - CUT_NOTE) {
      kept.push(section)
      used += section.text.length + 2
    } else if (label !== '') cut.set(label, (cut.get(label) ?? 0) + 1)
  }
  const shown = foldRest(head, kept, lines)
  return cut.size > 0 ? `${shown}\n\n${cutNote(cut, more)}` : shown
}

const cutNote = (cut: ReadonlyMap<string, number>, more: string) => `**Left out for length:** ${kindsText(cut)}.${more}`

/** Which kinds of sections there are, and how many of each. */
function kindsText(counts: ReadonlyMap<string, number>): string {
  const parts = [...counts].map(([label, number]) => `${number > 1 ? `${number} × ` : ''}${label}`)
  const left = parts.length - MAX_KINDS
  return `${parts.slice(0, MAX_KINDS).join(', ')}${left > 0 ? ` and ${left} more kinds` : ''}`
}

const MAX_KINDS = 5

/** A piece of a text that can be left out as a whole; `label` names it where it was. */
export interface Section {
  readonly text: string
  readonly label: string
}

/** One whose text is made when it is read: of thousands of findings a report shows the first hundred. */
export function sectionOf(label: string, make: () => string): Section {
  let text: string | undefined
  return {
    label,
    get text() {
      text ??= make()
      return text
    },
  }
}

/** Something folded away; `summary` must be safe as HTML, `body` as Markdown. */
export function fold(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`
}

/** Lines of a text that are shown before everything else is folded. */
export const VISIBLE_LINES = 40

/**
 * A text whose sections are shown as far as `lines` allow, and folded as one behind that. What is in a fold of its own
 * counts as its summary; a heading never stands alone before the fold.
 */
function foldRest(head: string, sections: readonly Section[], lines: number): string {
  let left = lines - visibleLines(head) - FOLD_LINES
  const total = sections.reduce((sum, { text }) => sum + visibleLines(text) + 1, 0)
  if (total <= left + FOLD_LINES) return [head, ...sections.map(({ text }) => text)].join('\n\n')
  let shown = 0
  for (const { text } of sections) {
    const needed = visibleLines(text) + 1
    if (needed > left) break
    left -= needed
    shown++
  }
  while (shown > 0 && sections[shown - 1]!.label === '') shown--
  const rest = sections.slice(shown)
  const hidden = fold(summaryOf(rest), rest.map(({ text }) => text).join('\n\n'))
  return [head, ...sections.slice(0, shown).map(({ text }) => text), hidden].join('\n\n')
}

/** The fold itself, the blank line before it, and a last line that counts what was left out. */
const FOLD_LINES = 6

/** Labels are Markdown, and a summary is HTML: marks of code are left out. */
function summaryOf(sections: readonly Section[]): string {
  const labels = sections.map(({ label }) => label.replace(/[^\w .,/()-]/g, '')).filter(label => label !== '')
  const counts = new Map([...Map.groupBy(labels, label => label)].map(([label, all]) => [label, all.length]))
  return counts.size === 0 ? 'More' : `More: ${kindsText(counts)}`
}

function visibleLines(text: string): number {
  let depth = 0
  let visible = 0
  for (const line of text.split('\n')) {
    if (depth === 0) visible++
    depth += count(line, '<details') - count(line, '</details>')
  }
  return visible
}

const count = (line: string, mark: string) => line.split(mark).length - 1

/** A label and what follows it: `  fix      Set ...`. */
const LABEL = /^ *(?:[a-z]+|-{1,2}[^ ].*?) {2,}(?=\S)/
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ESCAPES = /\u001b\[[\d;]*m|\u001b\]8;;[^\u001b]*\u001b\\/g
/** A label that leaves less room than half of the line does not indent what continues. */
const DEEPEST = 40

/**
 * Lines of at most `width` characters, broken at spaces; a continuation is indented behind its label. A single
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
