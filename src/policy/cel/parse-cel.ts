import { type Token, tokensOf } from './tokens-of.ts'

/** The part of CEL that policies about addresses use. */
export type Expression =
  | { readonly type: 'literal'; readonly value: string | number | boolean | null }
  | { readonly type: 'list'; readonly items: readonly Expression[] }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'field'; readonly of: Expression; readonly name: string }
  | { readonly type: 'index'; readonly of: Expression; readonly at: Expression }
  | { readonly type: 'call'; readonly of?: Expression; readonly name: string; readonly args: readonly Expression[] }
  | { readonly type: 'not'; readonly of: Expression }
  | { readonly type: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'choice'; readonly of: Expression; readonly then: Expression; readonly otherwise: Expression }

const LEVELS: readonly (readonly string[])[] = [['||'], ['&&'], ['==', '!=', 'in']]
const MAX_DEPTH = 40

/** Reads an expression; undefined for what is not read here: numbers that are calculated with, maps, optional fields. */
export function parseCel(text: string): Expression | undefined {
  const tokens = tokensOf(text)
  if (!tokens) return undefined
  const parser = new Parser(tokens)
  const expression = parser.choice(0)
  return expression && parser.isAtEnd ? expression : undefined
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length
  }

  choice(depth: number): Expression | undefined {
    if (depth > MAX_DEPTH) return undefined
    const of = this.#binary(0, depth + 1)
    if (!of || !this.#takes('?')) return of
    const then = this.choice(depth + 1)
    const otherwise = then && this.#takes(':') ? this.choice(depth + 1) : undefined
    return then && otherwise && { type: 'choice', of, then, otherwise }
  }

  #binary(level: number, depth: number): Expression | undefined {
    const operators = LEVELS[level]
    if (!operators) return this.#unary(depth)
    let left = this.#binary(level + 1, depth)
    for (;;) {
      const next = this.#tokens[this.#at]
      if (!left || next?.type !== 'mark' || !operators.includes(next.text)) return left
      this.#at++
      const right = this.#binary(level + 1, depth)
      left = right && { type: 'binary', operator: next.text, left, right }
    }
  }

  #unary(depth: number): Expression | undefined {
    if (depth > MAX_DEPTH) return undefined
    if (!this.#takes('!')) return this.#member(depth)
    const of = this.#unary(depth + 1)
    return of && { type: 'not', of }
  }

  #member(depth: number): Expression | undefined {
    let of = this.#primary(depth)
    while (of) {
      if (this.#takes('.')) {
        const name = this.#name()
        if (name === undefined) return undefined
        if (!this.#takes('(')) of = { type: 'field', of, name }
        else {
          const args: readonly Expression[] | undefined = this.#list(')', depth)
          of = args && { type: 'call', of, name, args }
        }
      } else if (this.#takes('[')) {
        const at: Expression | undefined = this.choice(depth + 1)
        of = at && this.#takes(']') ? { type: 'index', of, at } : undefined
      } else return of
    }
    return undefined
  }

  #primary(depth: number): Expression | undefined {
    const token = this.#tokens[this.#at]
    if (!token) return undefined
    if (this.#takes('(')) {
      const inner = this.choice(depth + 1)
      return inner && this.#takes(')') ? inner : undefined
    }
    if (this.#takes('[')) {
      const items = this.#list(']', depth)
      return items && { type: 'list', items }
    }
    if (token.type === 'mark') return undefined
    this.#at++
    if (token.type === 'literal') return { type: 'literal', value: token.value }
    if (!this.#takes('(')) return { type: 'name', name: token.text }
    const args = this.#list(')', depth)
    return args && { type: 'call', name: token.text, args }
  }

  #list(end: string, depth: number): Expression[] | undefined {
    const items: Expression[] = []
    if (this.#takes(end)) return items
    for (;;) {
      const item = this.choice(depth + 1)
      if (!item) return undefined
      items.push(item)
      if (this.#takes(end)) return items
      if (!this.#takes(',')) return undefined
    }
  }

  #name(): string | undefined {
    const token = this.#tokens[this.#at]
    if (token?.type !== 'name') return undefined
    this.#at++
    return token.text
  }

  #takes(mark: string): boolean {
    const token = this.#tokens[this.#at]
    if (token?.type !== 'mark' || token.text !== mark) return false
    this.#at++
    return true
  }
}
