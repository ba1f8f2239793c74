/**
 * Whether go-yaml's emitter writes a text without quotes; `flow` is between brackets (yaml_emitter_analyze_scalar). The
 * answer is about printable text of one line; anything else is said to need quotes.
 */
export function isPlainText(text: string, flow: boolean): boolean {
  if (text === '') return !flow
  if (!/^[ -~\u00a0-\ud7ff]*$/.test(text) || /^ | $/.test(text)) return false
  if (/^(?:---|\.\.\.)/.test(text)) return false
  if (/^[#,[\]{}&*!|>'"%@`]/.test(text) || /^[-?:](?: |$)/.test(text)) return false
  if (/:(?: |$)| #/.test(text)) return false
  return !flow || !/[,?[\]{}:]/.test(text)
}
