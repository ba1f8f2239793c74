import type { CST } from 'yaml'

/** A token that carries no value: white space, a comment, an indicator. */
export interface Surrounding {
  readonly token: CST.SourceToken
  /** Inside brackets, where other rules hold. */
  readonly flow: boolean
  /** The token before it in the same place. */
  readonly previous: CST.SourceToken | undefined
  /** The scalar that it follows on the same line, outside of brackets. */
  readonly scalar: CST.FlowScalar | undefined
}

/** Everything between the values of a document (or beside all documents), without recursion. */
export function* sourceTokens(root: CST.Token): Generator<Surrounding> {
  const stack: { token: CST.Token; flow: boolean }[] = [{ token: root, flow: false }]
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { token, flow } = entry
    yield* directOf(token, flow)
    if (token.type === 'document' && token.value) stack.push({ token: token.value, flow })
    if (token.type === 'flow-collection') yield* within(token.end, flow, undefined)
    if (!('items' in token)) continue
    const inside = flow || token.type === 'flow-collection'
    for (const item of token.items) {
      yield* within(item.start, inside, undefined)
      if (item.sep) yield* within(item.sep, inside, undefined)
      if (item.key) stack.push({ token: item.key, flow: inside })
      if (item.value) stack.push({ token: item.value, flow: inside })
    }
  }
}

function* directOf(token: CST.Token, flow: boolean): Generator<Surrounding> {
  switch (token.type) {
    case 'document':
      yield* within(token.start, flow, undefined)
      if (token.end) yield* within(token.end, flow, undefined)
      return
    case 'scalar':
    case 'single-quoted-scalar':
    case 'double-quoted-scalar':
      if (token.end) yield* within(token.end, flow, flow ? undefined : token)
      return
    case 'alias':
    case 'doc-end':
      if (token.end) yield* within(token.end, flow, undefined)
      return
    case 'block-scalar':
      for (const part of token.props) if ('source' in part) yield* within([part as CST.SourceToken], flow, undefined)
      return
    case 'comment':
    case 'space':
      yield { token, flow, previous: undefined, scalar: undefined }
  }
}

function* within(
  tokens: readonly CST.SourceToken[],
  flow: boolean,
  scalar: CST.FlowScalar | undefined,
): Generator<Surrounding> {
  let previous: CST.SourceToken | undefined
  let follows = scalar
  for (const token of tokens) {
    if (token.type === 'newline') follows = undefined
    yield { token, flow, previous, scalar: follows }
    previous = token
  }
}
