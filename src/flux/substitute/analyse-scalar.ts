/** In which styles a text can be written as YAML. */
interface Styles {
  readonly plain: boolean
  readonly single: boolean
  readonly literal: boolean
}

/** Characters with a meaning where a plain scalar starts. */
const START = new Set(',[]{}#&*!|>\'"%@`')
const PRINTABLE = /^[\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]$/u

/**
 * Which styles hold a text that is not empty, as the emitter of go-yaml v2 decides (yaml_emitter_analyze_scalar), which
 * kustomize writes an object with before Flux substitutes in it. A tab and every character beyond U+FFFF need escapes.
 */
export function analyseScalar(value: string): Styles {
  const special = [...value].some(character => !PRINTABLE.test(character))
  const spaceBreak = value.includes(' \n')
  const breakSpace = value.includes('\n ')
  const multiline = /[\r\n]/.test(value)
  const edge = /^[ \r\n]|[ \r\n]$/.test(value)
  const unsafe = special || spaceBreak
  return {
    plain: !unsafe && !multiline && !edge && !hasIndicators(value),
    single: !unsafe && !breakSpace,
    literal: !unsafe && !value.endsWith(' '),
  }
}

function hasIndicators(value: string): boolean {
  const first = value.charAt(0)
  if (value.startsWith('---') || value.startsWith('...') || START.has(first)) return true
  if ('-?:'.includes(first) && /^[ \t]?$/.test(value.charAt(1))) return true
  return /:(?:[ \t]|$)|[ \t]#/.test(value)
}
