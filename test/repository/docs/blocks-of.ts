/** A fenced block of a page. */
export interface Block {
  readonly line: number
  /** Empty where the fence names none. */
  readonly language: string
  readonly text: string
  /** The HTML comment on the line before the fence, without its marks. */
  readonly comment?: string
}

/** Fenced blocks of a Markdown text, in order, also those of list items. A block that never ends goes to the end. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = []
  const lines = markdown.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const [, indent = '', fence = '', language = ''] = /^( *)(`{3,}|~{3,})\s*([\w-]*)/.exec(lines[at]!) ?? []
    if (fence === '') continue
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence)
    const last = end < 0 ? lines.length : end
    const text = lines.slice(at + 1, last).map(line => (line.startsWith(indent) ? line.slice(indent.length) : line))
    const [, comment] = /^\s*<!-- (.+) -->$/.exec(lines[at - 1] ?? '') ?? []
    blocks.push({ line: at + 1, language, text: text.join('\n'), ...(comment === undefined ? {} : { comment }) })
    at = last
  }
  return blocks
}
