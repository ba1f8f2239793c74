/** A piece of a text that can be left out as a whole; `label` says what was left out. */
export interface Section {
  readonly text: string
  readonly label: string
}

/** Something folded away; `summary` must be safe as HTML, `body` as Markdown. */
export function fold(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`
}
