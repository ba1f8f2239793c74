import { NotEvaluatedError, RuleError } from './values.ts'

export interface JmespathToken {
  /** An operator is its own type. */
  readonly type: string
  readonly text: string
}

const MAX_LENGTH = 20_000
/** Nodes of the tree are no deeper than there are tokens. */
const MAX_TOKENS = 1_000

const TOKEN =
  /(?<space>[ \t\n\r]+)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<number>-?[0-9]+)|(?<quoted>"(?:[^"\\]|\\[\s\S])*")|(?<raw>'(?:[^'\\]|\\'|\\(?!'))*')|(?<json>`(?:[^`\\]|\\[\s\S])*`)|(?<operator>\[\?|\[\]|\|\||&&|[<>!=]=|[.*,:{}\]()@[|<>!&])/y

/** The tokens of a JMESPath expression, as Kyverno's go-jmespath reads it; the last one has the type `end`. */
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
