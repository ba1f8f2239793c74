const MACROS = /^(?:all|exists|existsOne|exists_one|filter|map|transformList|transformMap|transformMapEntry)$/
/** What a list of the object counts as, of which only the cluster knows the length. */
const UNKNOWN_LENGTH = 10
const MAX_LENGTH = 4000

/** How much a CEL expression may cost, by what is written. */
export interface CelCost {
  /** How often the innermost step runs, at most: the product of the lists of nested comprehensions. */
  readonly steps: number
  /** A list that is written out is turned into another one, or one comprehension builds what another one walks. */
  readonly buildsLists: boolean
  /** Too long to be looked at. */
  readonly isHuge: boolean
}

interface Frame {
  readonly opens: string
  /** Whether `[` begins a list, and not an index. */
  readonly isList: boolean
  commas: number
  isEmpty: boolean
  /** Of the arguments of a macro: what its list counts. */
  readonly factor: number
}

/**
 * Estimates what an expression costs in one pass over its text. Numbers are upper bounds for what is written out, and a
 * guess for lists of the object; strings and comments have no effect.
 */
export function celCost(expression: string): CelCost {
  if (expression.length > MAX_LENGTH) return { steps: 0, buildsLists: false, isHuge: true }
  const tokens =
    expression.match(/\/\/[^\n]*|[rRbB]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|[A-Za-z_]\w*|\d+|[^\s]/g) ?? []
  const frames: Frame[] = []
  let [steps, maps, isBuilding] = [1, 0, false]
  /** Lengths of the written lists, by the token that ends them. */
  const endedAt = new Map<number, number>()
  let before = ''
  for (const [index, token] of tokens.entries()) {
    if (token.startsWith('//')) continue
    const top = frames.at(-1)
    if (top && !/^[)\]},]$/.test(token)) top.isEmpty = false
    if (token === '(' || token === '[' || token === '{') {
      const isMacro = token === '(' && MACROS.test(before) && tokens[index - 2] === '.'
      const written = isMacro ? endedAt.get(index - 3) : undefined
      if (isMacro && /^(?:map|transform)/.test(before)) {
        maps++
        isBuilding ||= written !== undefined
      }
      frames.push({
        opens: token,
        isList: token === '[' && !/^[\w)\]}]$|\w$/.test(before),
        commas: 0,
        isEmpty: true,
        factor: isMacro ? (written ?? UNKNOWN_LENGTH) : 1,
      })
      steps = Math.max(
        steps,
        frames.reduce((product, frame) => product * frame.factor, 1),
      )
    } else if (token === ',' && top) top.commas++
    else if (/^[)\]}]$/.test(token)) {
      const frame = frames.pop()
      if (frame?.isList && token === ']') endedAt.set(index, frame.isEmpty ? 0 : frame.commas + 1)
    }
    before = token
  }
  return { steps, buildsLists: isBuilding || maps > 1, isHuge: false }
}
