import { type Html, html } from './html.ts'

/** A moment for people and machines; what is no ISO time is shown as it is. */
export function when(at: string): Html {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(at)
  if (!match) return html`${at}`
  return html`<time datetime="${at}">${match[1]} ${match[2]} UTC</time>`
}
