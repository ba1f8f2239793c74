import { changed, type Message, type MessagePart, part, unquoted } from '../../base/message.ts'
import type { Step } from '../../base/origin.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import type { EvaluatedNode, Verdict } from '../../rules/model/finding.ts'

/** A run of characters that a name, or a part of an address or identity, is made of. */
const WORD = /[\w.-]+/g
/** Running text, where nothing around it says that it is a name. */
const LETTERS = /^[A-Za-z]+[.]?$/
/** Names that every cluster has; using one reveals nothing. */
const COMMON = new Set(
  'default kube-system kube-public kube-node-lease flux-system cluster-admin admin edit view main master capsule-system'.split(
    ' ',
  ),
)
const HIDDEN = "(another tenant's)"

/** Who wrote what is shown. */
export interface Writing {
  /** Words that the audience wrote, besides what was evaluated. */
  readonly written?: readonly string[]
  /** The text is about what was written elsewhere, so a name of another tenant is always private. */
  readonly byOthers?: boolean
}

/**
 * Knows which words only other tenants use, so that a text for one audience can do without them: names of tenants,
 * namespaces, accounts, Kustomizations, objects and repositories. What the audience wrote itself is not private to it.
 */
export class PrivateWords {
  readonly #names: ReadonlySet<string>
  readonly #others: readonly EvaluatedNode[]
  readonly #own: readonly EvaluatedNode[]
  readonly #nodes: readonly EvaluatedNode[]
  readonly #shared: ReadonlySet<string>
  readonly #ownNames: ReadonlySet<string>
  readonly #known = new Map<string, boolean>()
  readonly #tenants: ReadonlySet<string>
  readonly #isOfAll: boolean
  #places: { readonly own: ReadonlySet<string>; readonly others: ReadonlySet<string> } | undefined
  #used: ReadonlySet<string> | undefined

  /** `nodes`: everything that was evaluated, as far as it is at hand. */
  constructor(verdict: Verdict, audience: readonly string[], nodes: readonly EvaluatedNode[]) {
    const of = (mine: boolean) => verdict.tenants.filter(tenant => audience.includes(tenant.name) === mine)
    this.#tenants = new Set(audience)
    this.#isOfAll = of(false).length === 0
    const names = new Set(of(true).flatMap(placeWords))
    const foreign = new Set(of(false).flatMap(placeWords))
    // an account of someone else may own a tenant, too
    this.#ownNames = new Set([
      ...names,
      ...of(true)
        .flatMap(identityWords)
        .filter(word => !foreign.has(word)),
    ])
    this.#names = new Set([...foreign, ...of(false).flatMap(identityWords)])
    const isMine = ({ tenant }: EvaluatedNode) => tenant !== null && audience.includes(tenant)
    this.#nodes = nodes
    this.#own = nodes.filter(node => isMine(node) && !node.narrower)
    this.#others = nodes.filter(node => node.narrower || (node.tenant !== null && !isMine(node)))
    this.#shared = new Set(nodes.flatMap(({ tenant, namespace }) => (tenant === null ? [namespace] : [])))
  }

  /**
   * A message without the values that only others use. The type of a value decides, whatever is around it; only what has no
   * type is found by its words.
   */
  hideIn(message: Message, writing: Writing = {}): Message {
    return changed(message, one => {
      if (one.type === 'code') return { part: one }
      if (one.type === 'text') return { part: part('text', this.hide(one.value, writing)) }
      if (one.type === 'tenant') return this.#tenant(one, writing)
      return { part: this.#value(one, writing) }
    })
  }

  /** A tenant is named to itself only. */
  #tenant(one: MessagePart, { byOthers = false }: Writing) {
    const isOther = this.#names.has(one.value) || (byOthers && !this.#isOfAll)
    if (this.#tenants.has(one.value) || !isOther) return { part: one }
    return { part: part('tenant', '', 'another tenant'), before: 'tenant ' }
  }

  /** By the parts of a name: an address, a path and an account say whose they are at their end. */
  #value(one: MessagePart, writing: Writing): MessagePart {
    const pieces = one.value.split(SEPARATORS[one.type] ?? SEPARATORS.value!)
    const hidden = pieces.map((piece, at) => (at % 2 === 1 ? piece : this.#piece(piece, writing)))
    if (this.#isForeign(one, writing))
      hidden[hidden.findLastIndex((piece, at) => at % 2 === 0 && piece !== '')] = HIDDEN
    const joined = hidden.join('')
    const value = one.type === 'value' ? this.hide(joined, writing) : joined
    if (value === one.value) return one
    const inner = unquoted(one)
    // what is cut or escaped is not written again
    const text = inner === one.value ? value : HIDDEN
    const quote = inner === one.text ? '' : one.text[0]
    return { ...one, value, text: `${quote}${text}${quote}` }
  }

  #piece(piece: string, writing: Writing): string {
    if (this.#isNews(piece, writing)) return HIDDEN
    // a file or a host may be called like a tenant
    return piece
      .split(/([^\p{L}\p{N}_-]+)/u)
      .map(word => (word !== piece && this.#names.has(word) && this.#isNews(word, writing) ? HIDDEN : word))
      .join('')
  }

  /** A repository or an account that is known to be another tenant's, whatever words its name is made of. */
  #isForeign({ type, value }: MessagePart, { byOthers = false }: Writing): boolean {
    if (type !== 'repository' && type !== 'identity') return false
    this.#places ??= placesOf(this.#nodes, this.#others)
    const name = type === 'repository' ? normaliseUrl(value) : value
    if (!this.#places.others.has(name) || this.#places.own.has(name)) return false
    return byOthers || !this.#isOwn(value)
  }

  /** The text without the words of others: for what has no types. */
  hide(text: string, writing: Writing = {}): string {
    let out = text.replace(/\btenant (["'`]?)([\w.-]+)\1/g, (whole, quote: string, name: string) => {
      return this.#names.has(name) && !this.#ownNames.has(name) && quote !== undefined ? 'another tenant' : whole
    })
    out = out.replace(WORD, (word, at: number) => {
      const bare = word.replace(/[.]+$/, '')
      const around = `${out[at - 1] ?? ' '}${out[at + word.length] ?? ' '}`
      if (LETTERS.test(word) && !this.#names.has(bare) && !/[/:"'`@]/.test(around)) return word
      const isNews = (name: string) => this.#isNews(name, writing)
      if (isNews(bare)) return `${HIDDEN}${word.slice(bare.length)}`
      // a file or a host may be called like a tenant
      return word.replace(/[^.]+/g, part => (part !== word && this.#names.has(part) && isNews(part) ? HIDDEN : part))
    })
    return out
  }

  #isNews(name: string, { written = [], byOthers = false }: Writing): boolean {
    return (
      !this.#ownNames.has(name) &&
      !written.includes(name) &&
      this.#isPrivate(name) &&
      ((byOthers && this.#names.has(name)) || !this.#isOwn(name))
    )
  }

  #isPrivate(word: string): boolean {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const found = !COMMON.has(word) && (this.#names.has(word) || this.#isOthers(word))
    this.#known.set(word, found)
    return found
  }

  /** Whether the audience has the word. */
  #isOwn(word: string): boolean {
    return this.#own.some(node => nodeWords(node).has(word) || node.objects.some(object => mentions(object, word)))
  }

  #isOthers(word: string): boolean {
    this.#used ??= new Set(this.#others.flatMap(node => [...nodeWords(node), ...node.objects.flatMap(namesIn)]))
    return !this.#shared.has(word) && this.#used.has(word)
  }
}

/** What separates the names in a value; every second piece is such. */
const SEPARATORS: { readonly [type in MessagePart['type']]?: RegExp } = {
  identity: /(:)/,
  path: /(\/)/,
  field: /([./])/,
  value: /([\s/:]+)/,
}

/** Addresses of repositories and users of accounts. */
function placesOf(nodes: readonly EvaluatedNode[], others: readonly EvaluatedNode[]) {
  const of = (some: readonly EvaluatedNode[]) =>
    new Set(
      some.flatMap(({ user, source, charts = [] }) => [
        user,
        ...[source, ...(source.includes ?? []), ...charts].map(({ url }) => normaliseUrl(url)),
      ]),
    )
  const strangers = new Set(others)
  return { own: of(nodes.filter(node => !strangers.has(node))), others: of(others) }
}

type Tenant = Verdict['tenants'][number]

const placeWords = ({ name, namespaces }: Tenant): string[] => [name, ...namespaces]

const identityWords = ({ identities }: Tenant): string[] =>
  identities.flatMap(identity => identity.split(':')).filter(word => !isGeneral(word))

const isGeneral = (word: string) => /^(system|serviceaccounts?|authenticated|)$/.test(word)

/** Of an address only what comes after the host and the account is anybody's. */
function nodeWords({ namespace, name, user, source }: EvaluatedNode): Set<string> {
  const words = [
    namespace,
    name,
    ...user.split(':'),
    ...source.id.split('/').slice(1),
    ...source.url.split('/').slice(3),
  ]
  return new Set(words.filter(word => !isGeneral(word)))
}

/** Whether an object contains a word, as a whole. */
function mentions(object: string, word: string): boolean {
  for (let at = object.indexOf(word); at >= 0; at = object.indexOf(word, at + 1)) {
    const before = object[at - 1] ?? ''
    const after = object[at + word.length] ?? ''
    if (!/[\w-]/.test(before) && !/[\w-]/.test(after)) return true
  }
  return false
}

/** Name and namespace of an object in canonical JSON. Reads no more of it than its metadata: a fleet has many. */
function namesIn(object: string): string[] {
  const at = /"kind":"[^"\\]{0,100}","metadata":\{/.exec(object)
  if (!at) return namesOf(JSON.parse(object))
  const start = at.index + at[0].length - 1
  return namesOf({ metadata: JSON.parse(object.slice(start, endOf(object, start))) })
}

function namesOf({
  metadata,
}: {
  readonly metadata?: { readonly name?: unknown; readonly namespace?: unknown }
}): string[] {
  return [metadata?.name, metadata?.namespace].filter(name => typeof name === 'string')
}

/** Where the map ends that begins at `start`. */
function endOf(json: string, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at++) {
    const character = json[at]
    if (character === '"') {
      do at = json.indexOf('"', at + 1)
      while (isEscaped(json, at))
    } else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return at + 1
  }
  return json.length
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0
  while (json[at - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

/**
 * Plain data with each of its texts, however deep, as `hide` leaves it; but those of the fields `open`. So a field that
 * is new is hidden until someone decides that it may be shown.
 */
export function through<T>(data: T, hide: (text: string) => string, open: readonly string[] = []): T {
  const mapped = (value: unknown): unknown => {
    if (typeof value === 'string') return hide(value)
    if (Array.isArray(value)) return value.map(mapped)
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, open.includes(key) ? item : mapped(item)]),
    )
  }
  return mapped(data) as T
}

/** Such a step may be in the fleet's repository; those of kustomize are where the origin is. */
export const isOfFlux = ({ step }: Step): boolean => step === 'kustomization' || step.startsWith('flux-')
