import { andMore } from '../../message/and-more.ts'
import { code } from '../../message/markdown.ts'

/** Names as code spans, the first few of them, and how many there are more. */
export function shownList(names: readonly string[], max = 6): string {
  const shown = names.slice(0, max).map(name => code(name, 80))
  const left = names.length - shown.length
  return shown.length === 0 ? '➖' : shown.join(', ') + andMore(left)
}

/** A table of Markdown whose cells are Markdown already; beyond `max` rows it says how many are left out. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[], max: number): string {
  const left = rows.length - max
  return [
    `| ${titles.join(' | ')} |`,
    `|${titles.map(() => '---|').join('')}`,
    ...rows.slice(0, max).map(row => `| ${row.join(' | ')} |`),
    ...(left > 0 ? ['', `… and ${left} more.`] : []),
  ].join('\n')
}

/** Markdown that is shown when someone opens it; `title` is HTML that is safe already. */
export function folded(title: string, body: string): string {
  return `<details><summary>${title}</summary>\n\n${body}\n\n</details>`
}
