/** Plain words and numbers that YAML 1.1 takes for something else than text. */
const NO_TEXT =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[-+.]?\d[\d_.,:eE+-]*|[-+]?0[xXoObB][\da-fA-F_]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
const DATE = /^\d{4}-\d/
/** What starts a map, a list or a comment. */
const STRUCTURE = /^(?:[[{#]|- )|: |:$| #/

/**
 * Whether YAML 1.1 reads this text, written plain, as text. kyaml puts quotes around what is not where it sets a field,
 * and what stands in quotes stays a text under a later patch (FieldSetter in kyaml/yaml/fns.go).
 */
export function isTextForOldYaml(text: string): boolean {
  if (text.includes('\n') || DATE.test(text)) return true
  return !NO_TEXT.test(text) && !STRUCTURE.test(text)
}
