import { type Html, html } from './html.ts'

const ICONS = {
  shield: html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="M12 2.5 4 5.5V12c0 4.5 3.2 8.2 8 9.7 4.8-1.5 8-5.2 8-9.7V5.5z"/><path d="M12 7v10M7.5 12h9"/></svg>`,
  pass: html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="9.5"/><path d="m7.8 12.4 2.9 2.9 5.6-6.3"/></svg>`,
  fail: html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="9.5"/><path d="m8.5 8.5 7 7m0-7-7 7"/></svg>`,
  unsure: html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="9.5"/><path d="M9.3 9.3a2.8 2.8 0 1 1 4 2.6c-.9.4-1.3 1-1.3 1.9"/><path d="M12 17h.01"/></svg>`,
}

/** A picture that says nothing which does not stand beside it in words. */
export function icon(name: keyof typeof ICONS): Html {
  return ICONS[name]
}
