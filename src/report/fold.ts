/** Something folded away; `summary` must be safe as HTML, `body` as Markdown. */
export function fold(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`
}
