/** A piece of a template: text, or a field of the inputs. */
export type Piece = string | { readonly field: readonly string[] }

const OPEN = '<<'
const CLOSE = '>>'
const FIELD = /^inputs((?:\.[A-Za-z_]\w*)+)$/
const SPACE_BEHIND = /[ \t\r\n]*$/
const SPACE_BEFORE = /^[ \t\r\n]*/

export const hasTemplate = (text: string): boolean => text.includes(OPEN)

/**
 * A Go template of the Flux Operator as pieces, where it has nothing but fields of the inputs; undefined where it has more:
 * functions, variables, conditions. Source: Go's text/template with `<<` and `>>` (flux-operator, internal/builder).
 */
export function readTemplate(text: string): Piece[] | undefined {
  const pieces: Piece[] = []
  let rest = text
  for (let open = rest.indexOf(OPEN); open >= 0; open = rest.indexOf(OPEN)) {
    const close = rest.indexOf(CLOSE, open)
    if (close < 0) return undefined
    const inside = rest.slice(open + OPEN.length, close)
    const trimsBefore = /^-[ \t\r\n]/.test(inside)
    const trimsBehind = /[ \t\r\n]-$/.test(inside)
    const field = FIELD.exec(inside.slice(trimsBefore ? 1 : 0, trimsBehind ? -1 : undefined).trim())?.[1]
    if (field === undefined) return undefined
    const before = rest.slice(0, open)
    pieces.push(trimsBefore ? before.replace(SPACE_BEHIND, '') : before, { field: field.slice(1).split('.') })
    rest = rest.slice(close + CLOSE.length)
    if (trimsBehind) rest = rest.replace(SPACE_BEFORE, '')
  }
  return [...pieces, rest]
}

/** Whether a template eats white space around its fields. */
export const trims = (text: string): boolean => /<<-|->>/.test(text)
