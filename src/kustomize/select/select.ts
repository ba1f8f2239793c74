import { BailiwickError } from '../../base/errors.ts'
import { checkPattern, matchesPattern } from '../../expr/regexp/pattern.ts'
import { at, writtenText } from '../../kube/node.ts'
import type { BuildBudget } from '../build-budget.ts'
import type { Entry, Target } from '../entry.ts'
import { currentId, originalId, type Resource } from '../resource/resource.ts'

/** The resources that a patch target selects: names and namespaces as they are now or were at first. */
export function select(resources: readonly Resource[], target: Target, budget: BuildBudget): Resource[] {
  const pattern = new IdPattern(target, budget)
  return resources.filter(resource => selects(pattern, resource) && selectsNotes(target, resource))
}

function selects({ group, version, kind, name, namespace }: IdPattern, resource: Resource): boolean {
  const now = currentId(resource)
  if (kind && !kind(now.kind)) return false
  if (group && !group(now.group)) return false
  if (version && !version(now.version)) return false
  if (!name && !namespace) return true
  const first = originalId(resource)
  if (name && !matchesEither(name, first.name, now.name)) return false
  return !namespace || matchesEither(namespace, first.namespace, now.namespace)
}

const matchesEither = (test: TextTest, first: string, now: string): boolean =>
  test(first) || (now !== first && test(now))

/** Whether the labels and annotations of an object match a target. */
export function selectsNotes({ labelSelector, annotationSelector }: Target, resource: Resource): boolean {
  if (labelSelector && !matchesSelector(labelSelector, textsOf(resource, 'labels'))) return false
  return !annotationSelector || matchesSelector(annotationSelector, textsOf(resource, 'annotations'))
}

function textsOf(resource: Resource, field: 'labels' | 'annotations'): Map<string, string> {
  const map = at(resource.root, ['metadata', field])
  if (map?.type !== 'map') return new Map()
  return new Map([...map.fields].map(([key, { value }]) => [key, writtenText(value)]))
}

/** The parts of a target about ids of objects. kustomize compiles all of it before it looks at the first object. */
export const ID_PARTS = ['group', 'version', 'kind', 'name', 'namespace'] as const

type TextTest = (text: string) => boolean

/**
 * The patterns of a target, to be asked for many objects: what is only a name is compared, and what was answered for a
 * text once is known. Throws what `matchesPattern` throws, whether or not there is any object.
 */
export class IdPattern {
  readonly group: TextTest | undefined
  readonly version: TextTest | undefined
  readonly kind: TextTest | undefined
  readonly name: TextTest | undefined
  readonly namespace: TextTest | undefined

  constructor(target: Target, budget: BuildBudget) {
    for (const part of ID_PARTS) if (target[part]) checkPattern(target[part])
    this.group = testOf(target.group, budget)
    this.version = testOf(target.version, budget)
    this.kind = testOf(target.kind, budget)
    this.name = testOf(target.name, budget)
    this.namespace = testOf(target.namespace, budget)
  }

  /** Whether one id matches the target in every part. */
  matches(id: Readonly<Record<(typeof ID_PARTS)[number], string>>): boolean {
    if (this.kind && !this.kind(id.kind)) return false
    if (this.name && !this.name(id.name)) return false
    if (this.namespace && !this.namespace(id.namespace)) return false
    return !(this.group && !this.group(id.group)) && !(this.version && !this.version(id.version))
  }
}

function testOf(pattern: Entry | undefined, budget: BuildBudget): TextTest | undefined {
  if (!pattern) return undefined
  // what has no special character matches itself alone
  if (/^[\w-]*$/.test(pattern.text)) return text => text === pattern.text
  const known = new Map<string, boolean>()
  return text => {
    const answer = known.get(text) ?? matchesPattern(pattern, text, budget)
    known.set(text, answer)
    return answer
  }
}

type Requirement = (labels: ReadonlyMap<string, string>) => boolean

const cache = new Map<string, readonly Requirement[]>()

/**
 * Whether labels (or annotations) match a selector such as `app=web,tier in (a, b),!canary,size>3`, as labels.Parse of
 * Kubernetes reads it. Throws `kustomize-invalid` for an invalid one.
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
