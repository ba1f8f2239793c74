import { CelError, CelUnknownError } from '../expression.ts'
import { isKnownFunction } from '../parse-cel.ts'
import { CelMap, type CelValue, FunctionLibrary, type FunctionTable, LibraryValue } from '../values.ts'
import { URLS } from './addresses.ts'
import { MAX_LINKS, OR_VALUE } from './kubernetes-library.ts'
import { LISTS } from './lists.ts'
import { QUANTITY } from './quantity.ts'
import { TEXTS } from './texts.ts'
import { TIMES } from './times.ts'

/** Functions of Kyverno whose calls have no answer; what else an expression asks may still decide. */
const NOT_EVALUATED: FunctionTable = {
  functions: Object.fromEntries(
    [
      ...['time.now', 'time.truncate', 'time.toCron', 'random', 'random.random', 'x509.decode'],
      ...['gzip.compress', 'gzip.decompress', 'json.encode', 'json.marshal', 'json.unmarshal', 'yaml.parse'],
      ...['md5', 'sha1', 'sha256', 'hash.md5', 'hash.sha1', 'hash.sha256'],
      ...['regex.extract', 'regex.extractAll', 'regex.replace', 'math.greatest', 'math.least', 'math.round'],
    ].map(name => [
      name,
      (): never => {
        throw new CelUnknownError(`${name} is not supported`)
      },
    ]),
  ),
}

const mapOf = (entries: readonly (readonly [string, CelValue])[]): CelMap =>
  new CelMap(new Map(entries.map(([key, value]) => [`s${key}`, [key, value]])))

const USERS: FunctionTable = {
  functions: {
    parseServiceAccount: accountOf,
    'user.parseServiceAccount': accountOf,
  },
}

function accountOf([user]: readonly CelValue[]): CelValue | undefined {
  if (typeof user !== 'string') return undefined
  const [, namespace = '', name = ''] = /^system:serviceaccount:([^:]*):(.*)$/s.exec(user) ?? []
  return mapOf([
    ['Namespace', namespace],
    ['Name', name],
  ])
}

/** An image reference as go-containerregistry parses it. */
class Image extends LibraryValue {
  readonly typeName = 'kyverno.Image'
  readonly registry: string
  readonly repository: string
  readonly tag: string
  readonly digest: string
  constructor(registry: string, repository: string, tag: string, digest: string) {
    super()
    this.registry = registry
    this.repository = repository
    this.tag = tag
    this.digest = digest
  }
  equals(other: LibraryValue): boolean {
    return (
      other instanceof Image &&
      other.registry === this.registry &&
      other.repository === this.repository &&
      other.tag === this.tag &&
      other.digest === this.digest
    )
  }
}

const DIGEST = /^sha256:[0-9a-f]{64}$/

const TAG = /^[A-Za-z0-9_\-.]{1,128}$/
const DOCKER_HUB = 'index.docker.io'

const REPOSITORY = /^[a-z0-9_\-./]{2,255}$/
const REGISTRY = /^(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/** Functions for image references (kyverno/sdk extensions/cel/libs/image). */
const IMAGES: FunctionTable = {
  functions: {
    isImage: ([text]) => (typeof text === 'string' ? imageOf(text) !== undefined : undefined),
    image: parsedImage,
    parseImageReference: parsedImage,
  },
  methods: {
    containsDigest: ofImage(({ digest }) => digest !== ''),
    registry: ofImage(({ registry }) => registry),
    repository: ofImage(({ repository }) => repository),
    identifier: ofImage(({ tag, digest }) => digest || tag),
    identifierWithSeparator: ofImage(({ tag, digest }) => (digest === '' ? `:${tag}` : `@${digest}`)),
    tag: ofImage(({ tag }) => tag),
    digest: ofImage(({ digest }) => digest),
  },
}

/** Each has a spelling in lower camel case since Kyverno 1.18. */
const METHODS = ['Get', 'List', 'Post', 'Client', 'ToGVR', 'GetMetadata']

/** The methods of those names. */
const OUTSIDE: FunctionTable = {
  methods: Object.fromEntries(
    METHODS.flatMap(written => {
      const lower = written === 'ToGVR' ? 'toGVR' : written[0]!.toLowerCase() + written.slice(1)
      return [written, lower].map(name => [
        name,
        ([self, ...args]: readonly CelValue[]) => (self instanceof OutsideContext ? self.call(name, args) : undefined),
      ])
    }),
  ),
}

/**
 * CEL functions that Kyverno adds for its policies (kyverno/kyverno pkg/cel/compiler/env.go, pkg/cel/policies/vpol/compiler): images
 * and users. An expression that calls another one is not evaluated.
 */
export const kyvernoLibrary = new FunctionLibrary(
  [...[LISTS, TEXTS, URLS, QUANTITY, TIMES, OR_VALUE], ...[IMAGES, OUTSIDE, NOT_EVALUATED, USERS]],
  isKnownFunction,
  MAX_LINKS,
)

/** Answers a call; undefined: nothing answers it here. Throws CelError and CelUnknownError. */
type Answer = (method: string, args: readonly CelValue[]) => CelValue | undefined

/** A name whose methods ask a cluster, a registry or the network: `resource`, `image`, `globalContext`, `http`. */
export class OutsideContext extends LibraryValue {
  readonly typeName: string
  readonly name: string
  readonly #answer: Answer
  constructor(name: string, answer: Answer) {
    super()
    this.name = name
    this.typeName = `${name}.Context`
    this.#answer = answer
  }
  equals(other: LibraryValue): boolean {
    return this === other
  }
  call(method: string, args: readonly CelValue[]): CelValue {
    const answer = this.#answer(method, args)
    if (answer === undefined)
      throw new CelUnknownError(`${this.name}.${method} needs information from outside the fleet`)
    return answer
  }
}

function parsedImage([text]: readonly CelValue[]): CelValue | undefined {
  if (typeof text !== 'string') return undefined
  const made = imageOf(text)
  if (!made) throw new CelError('could not parse reference')
  return made
}

function ofImage(answer: (image: Image) => CelValue) {
  return ([one]: readonly CelValue[]) => (one instanceof Image ? answer(one) : undefined)
}

/** `name.ParseReference` of go-containerregistry: a digest takes precedence over a tag; the defaults are `latest` and Docker Hub. */
function imageOf(text: string): Image | undefined {
  const [named, digest, ...others] = text.split('@')
  if (named === undefined || others.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return undefined
  const colon = named.lastIndexOf(':')
  const hasTag = colon > named.lastIndexOf('/')
  const [base, tag] = hasTag ? [named.slice(0, colon), named.slice(colon + 1)] : [named, '']
  if (hasTag && !TAG.test(tag)) return undefined
  const slash = base.indexOf('/')
  const first = slash < 0 ? '' : base.slice(0, slash)
  const isHost = first !== '' && (/[.:]/.test(first) || first === 'localhost')
  const registry = isHost ? first : DOCKER_HUB
  const path = isHost ? base.slice(slash + 1) : base
  if (!REPOSITORY.test(path) || !REGISTRY.test(registry)) return undefined
  const isHub = registry === DOCKER_HUB || registry === 'docker.io'
  const repository = isHub && !path.includes('/') ? `library/${path}` : path
  const place = registry === 'docker.io' ? DOCKER_HUB : registry
  return new Image(place, repository, digest === undefined ? tag || 'latest' : '', digest ?? '')
}
