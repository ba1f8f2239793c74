import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'

const OLD_BOOLEAN = /^(?:[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/
/** What a plain text may not start with. */
const START = /^(?:---|\.\.\.|[\s#,[\]{}&*!|>'"%@`]|[-?:](?:\s|$))/
/** What it may not hold: a key, a comment, space at its end, what must be escaped. */
const WITHIN = /:(?:\s|$)|\s#|\s$|[^ -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/

/** Most texts: nothing in them means anything to YAML. */
const WORD = /^[A-Za-z][\w./-]*$/

/** Whether go-yaml puts this text in quotes or in a block when it writes an object anew (encode.go, emitterc.go). */
export function needsQuotes(text: string): boolean {
  if (WORD.test(text)) return OLD_BOOLEAN.test(text) || typeof resolvePlain(text) !== 'string'
  if (text === '<<' || OLD_BOOLEAN.test(text) || BASE_60.test(text)) return true
  return typeof resolvePlain(text) !== 'string' || START.test(text) || WITHIN.test(text)
}
