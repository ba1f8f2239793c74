import { BailiwickError } from '../../errors.ts'
import type { Entry } from '../model/entry.ts'

type Requirement = (labels: ReadonlyMap<string, string>) => boolean

const cache = new Map<string, readonly Requirement[]>()

/**
 * Whether labels (or annotations) match a selector such as `app=web,tier in (a, b),!canary,size>3`, as labels.Parse of
 * Kubernetes reads it. Throws `kustomize-invalid` for what is none.
 */
export function matchesSelector(selector: Entry, labels: ReadonlyMap<string, string>): boolean {
  let known = cache.get(selector.text)
  if (!known) {
    known = new SelectorParser(selector).parse()
    if (cache.size > 1_000) cache.clear()
    cache.set(selector.text, known)
  }
  return known.every(matches => matches(labels))
}

const TOKEN = /[ \t\r\n]*(==|!=|[=!(),<>]|[^=!(),<> \t\r\n]+)/y
const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const INTEGER = /^[-+]?[0-9]+$/
const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '<', '>']

/** Reads a selector token by token; the end is the empty token. */
class SelectorParser {
  private readonly selector: Entry
  private readonly tokens: readonly string[]
  private index = 0

  constructor(selector: Entry) {
    this.selector = selector
    if (selector.text.length > 4_096 || selector.text.includes('\0')) this.refuse()
    this.tokens = this.split(selector.text)
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = []
    if (this.peek() === '') return requirements
    while (true) {
      requirements.push(this.requirement())
      const separator = this.next()
      if (separator === '') return requirements
      if (separator !== ',') this.refuse()
    }
  }

  private requirement(): Requirement {
    const negated = this.peek() === '!'
    if (negated) this.next()
    const key = this.next()
    if (!isKey(key)) this.refuse()
    const operator = this.peek()
    if (operator === '' || operator === ',') return labels => labels.has(key) !== negated
    this.next()
    if (operator === 'in' || operator === 'notin') {
      const values = this.list()
      return labels => (labels.has(key) && values.has(labels.get(key)!)) === (operator === 'in')
    }
    return this.comparison(key, operator)
  }

  private comparison(key: string, operator: string): Requirement {
    if (!['=', '==', '!=', '<', '>'].includes(operator)) this.refuse()
    const value = this.peek() === '' || this.peek() === ',' ? '' : this.value(this.next())
    if (operator !== '<' && operator !== '>') {
      return labels => (labels.get(key) === value) === (operator !== '!=')
    }
    const bound = integerOf(value) ?? this.refuse()
    return labels => {
      const number = integerOf(labels.get(key) ?? '')
      return number !== undefined && (operator === '<' ? number < bound : number > bound)
    }
  }

  /** Values between parentheses; an empty place among the commas is an empty value. */
  private list(): Set<string> {
    if (this.next() !== '(') this.refuse()
    const values = new Set<string>()
    let previous = ','
    for (let token = this.next(); token !== ')'; token = this.next()) {
      if (token === ',') {
        if (previous === ',') values.add('')
      } else if (previous === ',') values.add(this.value(token))
      else this.refuse()
      previous = token
    }
    if (previous === ',') values.add('')
    return values
  }

  private value(token: string): string {
    return token !== '' && NAME.test(token) ? token : this.refuse()
  }

  private split(text: string): string[] {
    const tokens: string[] = []
    const end = text.trimEnd().length
    for (TOKEN.lastIndex = 0; TOKEN.lastIndex < end; ) {
      const match = TOKEN.exec(text)
      if (!match) return this.refuse()
      tokens.push(match[1]!)
    }
    return tokens
  }

  private peek(): string {
    return this.tokens[this.index] ?? ''
  }

  private next(): string {
    return this.tokens[this.index++] ?? ''
  }

  private refuse(): never {
    const message = `${JSON.stringify(this.selector.text.slice(0, 100))}: not a valid label selector`
    throw new BailiwickError('kustomize-invalid', message, { origin: this.selector.origin })
  }
}

function isKey(text: string): boolean {
  if (text === '' || SYMBOLS.includes(text)) return false
  const parts = text.split('/')
  return parts.length === 1 ? NAME.test(text) : parts.length === 2 && PREFIX.test(parts[0]!) && NAME.test(parts[1]!)
}

function integerOf(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined
}
