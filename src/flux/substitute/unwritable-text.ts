const PRINTABLE = /^[\t\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/

/**
 * Whether kustomize, given a text without a style, writes it as a text block that it cannot read: one that starts with a
 * tab, in which the parser looks for the indent.
 */
export function isUnwritable(text: string): boolean {
  return text.startsWith('\t') && text.includes('\n') && !/ \n| $/.test(text) && PRINTABLE.test(text)
}
