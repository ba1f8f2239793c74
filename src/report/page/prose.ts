import { type Html, html } from './html.ts'

/** A sentence of ours: what it quotes between backticks stands as code. An odd number of backticks quotes nothing. */
export function prose(sentence: string): Html {
  const parts = sentence.slice(0, 4_000).split('`')
  if (parts.length % 2 === 0) return html`${sentence}`
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`
}
