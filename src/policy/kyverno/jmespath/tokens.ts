import { NotEvaluatedError, RuleError } from './values.ts'

export interface JmespathToken {
  /** The type of an operator is the operator itself. */
  readonly type: string
  readonly text: string
}

const MAX_LENGTH = 20_000
/** Limits the depth of the syntax tree. */
const MAX_TOKENS = 1_000

const TOKEN =
  /(?<space>[ \t\n\r]+)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<number>-?[0-9]+)|(?<quoted>"(?:[^"\\]|\\[\s\S])*")|(?<raw>'(?:[^'\\]|\\'|\\(?!'))*')|(?<json>`(?:[^`\\]|\\[\s\S])*`)|(?<operator>\[\?|\[\]|\|\||&&|[<>!=]=|[.*,:{}\]()@[|<>!&])/y

/** Splits a JMESPath expression into tokens as Kyverno's go-jmespath does; the last token has the type `end`. */
export function tokensOf(text: string): JmespathToken[] {
  if (text.length > MAX_LENGTH) throw new NotEvaluatedError(`an expression of more than ${MAX_LENGTH} characters`)
  const tokens: JmespathToken[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex
    const groups = TOKEN.exec(text)?.groups
    if (!groups) throw new RuleError(`unexpected character ${JSON.stringify(text[at])} in ${JSON.stringify(text)}`)
    const [type, found] = Object.entries(groups).find(([, one]) => one !== undefined)!
    if (type !== 'space') tokens.push(type === 'operator' ? { type: found, text: found } : { type, text: found })
    if (tokens.length > MAX_TOKENS) throw new NotEvaluatedError(`an expression of more than ${MAX_TOKENS} tokens`)
  }
  return [...tokens, { type: 'end', text: '' }]
}
