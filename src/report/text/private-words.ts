import type { JudgedNode, Verdict } from '../../rules/model/finding.ts'

/** A run of characters that a name, or a part of an address or identity, is made of. */
const WORD = /[\w.-]+/g
/** Running text, where nothing around it says that it is a name. */
const LETTERS = /^[A-Za-z]+[.]?$/
/** Names that every cluster has; whoever else uses them tells nothing by it. */
const COMMON = new Set(
  'default kube-system kube-public kube-node-lease flux-system cluster-admin admin edit view main master capsule-system'.split(
    ' ',
  ),
)
const HIDDEN = "(another tenant's)"

interface Writing {
  readonly written?: readonly string[]
  readonly byOthers?: boolean
}

/**
 * Knows which words only other tenants use, so that a text for one audience can do without them: names of tenants,
 * namespaces, accounts, Kustomizations, objects and repositories. What the audience wrote itself is no news to it.
 */
export class PrivateWords {
  readonly #names: ReadonlySet<string>
  readonly #others: readonly JudgedNode[]
  readonly #own: readonly JudgedNode[]
  readonly #shared: ReadonlySet<string>
  readonly #ownNames: ReadonlySet<string>
  readonly #known = new Map<string, boolean>()
  #used: ReadonlySet<string> | undefined

  /** `nodes`: everything that was judged, as far as it is at hand. */
  constructor(verdict: Verdict, audience: readonly string[], nodes: readonly JudgedNode[]) {
    const of = (mine: boolean) => verdict.tenants.filter(tenant => audience.includes(tenant.name) === mine)
    const names = new Set(of(true).flatMap(placeWords))
    const foreign = new Set(of(false).flatMap(placeWords))
    // an account of somebody else may own a tenant, too
    this.#ownNames = new Set([
      ...names,
      ...of(true)
        .flatMap(identityWords)
        .filter(word => !foreign.has(word)),
    ])
    this.#names = new Set([...foreign, ...of(false).flatMap(identityWords)])
    const isMine = ({ tenant }: JudgedNode) => tenant !== null && audience.includes(tenant)
    this.#own = nodes.filter(node => isMine(node) && !node.narrower)
    this.#others = nodes.filter(node => node.narrower || (node.tenant !== null && !isMine(node)))
    this.#shared = new Set(nodes.flatMap(({ tenant, namespace }) => (tenant === null ? [namespace] : [])))
  }

  /**
   * The text without the words of others. `written`: words that stand in what the audience wrote, beside what was judged.
   * `byOthers`: what the text is about was written elsewhere, so a name of another tenant is news wherever it stands.
   */
  hide(text: string, { written = [], byOthers = false }: Writing = {}): string {
    let out = text.replace(/\btenant (["'`]?)([\w.-]+)\1/g, (whole, quote: string, name: string) => {
      return this.#names.has(name) && !this.#ownNames.has(name) && quote !== undefined ? 'another tenant' : whole
    })
    out = out.replace(WORD, (word, at: number) => {
      const bare = word.replace(/[.]+$/, '')
      const around = `${out[at - 1] ?? ' '}${out[at + word.length] ?? ' '}`
      if (LETTERS.test(word) && !this.#names.has(bare) && !/[/:"'`@]/.test(around)) return word
      const isNews = (name: string) =>
        !this.#ownNames.has(name) &&
        !written.includes(name) &&
        this.#isPrivate(name) &&
        ((byOthers && this.#names.has(name)) || !this.#isOwn(name))
      if (isNews(bare)) return `${HIDDEN}${word.slice(bare.length)}`
      // a file or a host may be called like a tenant
      return word.replace(/[^.]+/g, part => (part !== word && this.#names.has(part) && isNews(part) ? HIDDEN : part))
    })
    return out
  }

  #isPrivate(word: string): boolean {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const found = !COMMON.has(word) && (this.#names.has(word) || this.#isOthers(word))
    this.#known.set(word, found)
    return found
  }

  /** Whether the word stands in what the audience has. */
  #isOwn(word: string): boolean {
    return this.#own.some(node => nodeWords(node).has(word) || node.objects.some(object => mentions(object, word)))
  }

  #isOthers(word: string): boolean {
    this.#used ??= new Set(this.#others.flatMap(node => [...nodeWords(node), ...node.objects.flatMap(namesIn)]))
    return !this.#shared.has(word) && this.#used.has(word)
  }
}

type Tenant = Verdict['tenants'][number]

const placeWords = ({ name, namespaces }: Tenant): string[] => [name, ...namespaces]

const identityWords = ({ identities }: Tenant): string[] =>
  identities.flatMap(identity => identity.split(':')).filter(word => !isGeneral(word))

const isGeneral = (word: string) => /^(system|serviceaccounts?|authenticated|)$/.test(word)

/** Of an address only what comes after the host and the account is anybody's. */
function nodeWords({ namespace, name, user, source }: JudgedNode): Set<string> {
  const words = [
    namespace,
    name,
    ...user.split(':'),
    ...source.id.split('/').slice(1),
    ...source.url.split('/').slice(3),
  ]
  return new Set(words.filter(word => !isGeneral(word)))
}

/** Whether a word stands in an object, as a whole. */
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
