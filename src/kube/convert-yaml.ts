import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Pair, Scalar, type YAMLMap } from 'yaml'
import { BailiwickError, type ErrorCode } from '../errors.ts'
import type { Field, MapNode, Node } from './node.ts'
import type { Origin } from './origin.ts'
import { resolvePlain } from './resolve-scalar.ts'
import { refuseOver, YAML_LIMITS } from './yaml-budget.ts'

/** What a conversion needs to know about the text that the document came from. */
export interface Source {
  readonly text: string
  at(offset: number): Origin
}

/**
 * Turns one parsed document into our nodes: scalars get the values that kustomize gives them, aliases are replaced by
 * what they stand for, merge keys are merged. Throws `yaml-ambiguous` or `render-limits`, always with an origin.
 */
export function convertDocument(document: Document, source: Source): Node | undefined {
  if (!document.contents) return undefined
  return new Conversion(source).convert(document.contents)
}

class Conversion {
  private readonly source: Source
  private readonly anchors = new Map<string, Node>()
  private readonly sizes = new Map<Node, number>()
  /** Fields whose key is an alias: kustomize does not see that a merged map has the same key, and fails. */
  private readonly aliasFields = new Set<Field>()
  private aliases = 0
  private flow = 0
  private expanded = 0

  constructor(source: Source) {
    this.source = source
  }

  convert(node: unknown): Node {
    if (isAlias(node)) return this.expand(node)
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined
    const flow = (isMap(node) || isSeq(node)) && node.flow === true
    if (flow) this.flow++
    const converted = this.content(node)
    if (flow) this.flow--
    if (anchor) this.anchors.set(anchor, converted)
    return converted
  }

  private content(node: unknown): Node {
    if (isScalar(node)) return this.scalar(node)
    if (isSeq(node)) {
      this.checkTag(node.tag, '!!seq', node.range?.[0] ?? 0)
      const items = node.items.map(item => this.convert(item))
      return this.sized({ type: 'list', items, origin: this.at(node) }, items)
    }
    if (isMap(node)) {
      this.checkTag(node.tag, '!!map', node.range?.[0] ?? 0)
      return this.map(node)
    }
    throw new BailiwickError('yaml-syntax', 'the document has a part that is no value', { origin: this.source.at(0) })
  }

  private map(node: YAMLMap): MapNode {
    const fields = new Map<string, Field>()
    let merged: Node | undefined
    for (const pair of node.items as Pair[]) {
      const key = this.key(pair.key)
      const value = pair.value === null ? this.absent(pair.key) : this.convert(pair.value)
      // written back, an empty value between braces becomes an empty text
      if (node.flow && value.type === 'scalar' && value.text === '') {
        this.refuse('yaml-ambiguous', `no value for ${JSON.stringify(key.text)} between braces`, key.origin)
      }
      const plain = isScalar(pair.key) && pair.key.type === Scalar.PLAIN
      if (key.text === '<<' && plain) {
        if (merged) this.refuse('yaml-ambiguous', 'a second merge key in one map', key.origin)
        merged = value
        continue
      }
      if (fields.has(key.text)) this.refuse('yaml-ambiguous', `the key ${JSON.stringify(key.text)} twice`, key.origin)
      const field = { key: key.origin, value }
      if (isAlias(pair.key)) this.aliasFields.add(field)
      fields.set(key.text, field)
    }
    const all = merged ? this.merge(merged, fields) : fields
    const values = [...all.values()].map(field => field.value)
    return this.sized({ type: 'map', fields: all, origin: this.at(node) }, values)
  }

  /** Keys of the map itself win; of several merged maps the first that has a key wins (YAML merge key type). */
  private merge(merged: Node, own: Map<string, Field>): Map<string, Field> {
    const sources = merged.type === 'list' ? merged.items : [merged]
    const all = new Map<string, Field>()
    for (const source of [...sources].reverse()) {
      if (source.type !== 'map') this.refuse('yaml-ambiguous', 'a merge key whose value is no map', source.origin)
      for (const [key, field] of source.fields) all.set(key, field)
    }
    for (const [key, field] of own) {
      const other = all.get(key)
      if (other && (this.aliasFields.has(field) || this.aliasFields.has(other))) {
        this.refuse('yaml-ambiguous', `the key ${JSON.stringify(key)} twice, once by an alias`, field.key)
      }
      all.set(key, field)
    }
    return all
  }

  private key(node: unknown): { text: string; origin: Origin } {
    if (isAlias(node)) return this.aliasKey(node)
    if (!isScalar(node)) return this.refuse('yaml-ambiguous', 'a key that is no plain text', this.at(node))
    const origin = this.at(node)
    const text = String(node.value ?? '')
    this.checkTag(node.tag, '!!str', node.range?.[0] ?? 0)
    if (node.type === Scalar.PLAIN && node.tag !== STR && typeof resolvePlain(text) !== 'string') {
      this.refuse('yaml-ambiguous', `the key ${JSON.stringify(text)}, which is not text for YAML`, origin)
    }
    if (node.anchor && text === '<<') this.refuse('yaml-ambiguous', 'an anchor on a merge key', origin)
    if (node.anchor) this.anchors.set(node.anchor, this.scalar(node))
    return { text, origin }
  }

  private aliasKey(alias: Alias): { text: string; origin: Origin } {
    const target = this.expand(alias)
    const isText = target.type === 'scalar' && typeof target.value === 'string' && !target.style
    if (!isText || target.text !== undefined || target.value === '<<') {
      return this.refuse('yaml-ambiguous', `the key *${alias.source}, which stands for no plain text`, this.at(alias))
    }
    return { text: String(target.value), origin: this.at(alias) }
  }

  private scalar(node: Scalar): Node {
    const origin = this.at(node)
    const text = String(node.value ?? '')
    this.checkTag(node.tag, '!!str', node.range?.[0] ?? 0)
    if (node.type !== Scalar.PLAIN || node.tag === STR) return this.string(node, text, origin)
    const value = resolvePlain(text)
    if (this.flow > 0 && text.includes(':') && value !== text) {
      return this.refuse('yaml-ambiguous', 'a time inside brackets', origin)
    }
    if (value === undefined) return this.refuse('yaml-ambiguous', 'a number or date that not all of them know', origin)
    return String(value) === text ? { type: 'scalar', value, origin } : { type: 'scalar', value, origin, text }
  }

  private string(node: Scalar, text: string, origin: Origin): Node {
    if (node.type !== Scalar.BLOCK_LITERAL && node.type !== Scalar.BLOCK_FOLDED) {
      this.checkEscapes(node)
      return { type: 'scalar', value: text, origin, quoted: true }
    }
    this.checkTabs(node)
    const end = node.range?.[1] ?? 0
    const cut = end >= this.source.text.length && !this.source.text.endsWith('\n') && text.endsWith('\n')
    // go-yaml gives a block scalar at the end of a file no final line break that the file does not have
    const value = cut ? text.slice(0, -1) : text
    if (node.type === Scalar.BLOCK_FOLDED) return { type: 'scalar', value, origin, style: 'folded' }
    return { type: 'scalar', value, origin, style: 'literal', indent: this.indentOf(node, text) }
  }

  /** go-yaml does not know the escape of a slash, which JSON and YAML 1.2 have. */
  private checkEscapes(node: Scalar): void {
    if (node.type !== Scalar.QUOTE_DOUBLE) return
    const [start = 0, end = 0] = node.range ?? []
    const escapes: readonly string[] = this.source.text.slice(start, end).match(/\\./gs) ?? []
    if (escapes.includes('\\/')) this.refuse('yaml-ambiguous', 'an escaped slash', this.at(node))
  }

  /** go-yaml wants spaces before the text of a block scalar; tabs may only be part of later lines. */
  private checkTabs(node: Scalar): void {
    const [start = 0, end = 0] = node.range ?? []
    const lines = this.source.text.slice(start, end).split('\n').slice(1)
    const first = lines.findIndex(line => line.trim() !== '')
    const indent = /^ */.exec(lines[first] ?? '')![0].length
    const bad = lines.some((line, index) => {
      const spaces = /^ */.exec(line)![0].length
      return line[spaces] === '\t' && (index <= first || spaces < indent)
    })
    if (bad) this.refuse('yaml-ambiguous', 'a tab where a text block is indented', this.at(node))
  }

  /** How far a block scalar is indented in the file, from the first of its lines that is not blank. */
  private indentOf(node: Scalar, text: string): number {
    const [start = 0, end = 0] = node.range ?? []
    const written = this.source.text.slice(start, end).split('\n').slice(1)
    const index = text.split('\n').findIndex(line => line.trim() !== '')
    if (index < 0) return 0
    const line = (written[index] ?? '').replace(/\r$/, '')
    return Math.max(0, line.length - text.split('\n')[index]!.length)
  }

  private expand(alias: Alias): Node {
    const origin = this.at(alias)
    if (++this.aliases > YAML_LIMITS.aliases) refuseOver('aliases', origin)
    const target = this.anchors.get(alias.source)
    if (!target) return this.refuse('yaml-syntax', 'an alias without an anchor before it', origin)
    this.expanded += this.size(target)
    if (this.expanded > YAML_LIMITS.expanded) refuseOver('expanded', origin)
    return target
  }

  private absent(key: unknown): Node {
    return { type: 'scalar', value: null, origin: this.at(key), text: '' }
  }

  private sized<T extends Node>(node: T, children: readonly Node[]): T {
    this.sizes.set(
      node,
      children.reduce((sum, child) => sum + this.size(child), 1),
    )
    return node
  }

  private size(node: Node): number {
    const text = node.type === 'scalar' && typeof node.value === 'string' ? node.value.length : 0
    return this.sizes.get(node) ?? 1 + Math.floor(text / 64)
  }

  private checkTag(tag: string | undefined, allowed: string, offset: number): void {
    if (tag === undefined || tag === `tag:yaml.org,2002:${allowed.slice(2)}`) return
    // A plain password may begin with ! or * too, so neither a tag nor an alias nor a value is said.
    this.refuse('yaml-ambiguous', 'a tag', this.source.at(offset))
  }

  private at(node: unknown): Origin {
    const range = (node as { range?: readonly number[] | null } | null)?.range
    return this.source.at(range?.[0] ?? 0)
  }

  private refuse(code: ErrorCode, what: string, origin: Origin): never {
    const message = `${origin.file} has ${what}; YAML readers disagree on it, or refuse it`
    throw new BailiwickError(code, message, { origin, fix: 'Write it plainly: quote text, and write each key once.' })
  }
}

const STR = 'tag:yaml.org,2002:str'
