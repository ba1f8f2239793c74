import { CelError, CelUnknownError } from '../expression.ts'
import { isKnownFunction } from '../parse-cel.ts'
import { CelMap, type CelValue, FunctionLibrary, type FunctionTable, isList, LibraryValue, Time } from '../values.ts'
import { ADDRESSES, FORMAT_FUNCTIONS, URLS } from './addresses.ts'
import { MAX_LINKS, OR_VALUE } from './kubernetes-library.ts'
import { DOCUMENTS, MATH, REGEX } from './kyverno-functions.ts'
import { LISTS } from './lists.ts'
import { QUANTITY } from './quantity.ts'
import { SEMVER_FUNCTIONS } from './semver.ts'
import { TEXTS } from './texts.ts'
import { TIMES } from './times.ts'

/** Functions whose result depends on a clock, on randomness, or on formats that are not read here. */
const NOT_EVALUATED: FunctionTable = {
  functions: Object.fromEntries(
    [
      ['time.now', 'reads the clock'],
      ['random', 'is random'],
      ['random.random', 'is random'],
      ['x509.decode', 'is not supported'],
      ['gzip.compress', 'is not supported'],
      ['gzip.decompress', 'is not supported'],
      ['json.encode', 'is not supported'],
    ].map(([name, why]) => [
      name!,
      (): never => {
        throw new CelUnknownError(`${name} ${why}`)
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

const TRANSFORMS: FunctionTable = {
  functions: Object.fromEntries(['listObjToMap', 'transform.listObjToMap'].map(name => [name, listObjectsToMap])),
}

/** Zips two lists of maps into one map: keys from a field of the first list, values from a field of the second. */
function listObjectsToMap(args: readonly CelValue[]): CelValue | undefined {
  const [keys, values, keyField, valueField] = args
  if (keys === undefined || values === undefined || !isList(keys) || !isList(values)) return undefined
  if (typeof keyField !== 'string' || typeof valueField !== 'string') return undefined
  if (keys.length !== values.length) throw new CelError('both lists should have the same length')
  return mapOf(
    keys.map((key, index) => [textAt(key, keyField), fieldAt(values[index]!, valueField)] as [string, CelValue]),
  )
}

function fieldAt(value: CelValue, field: string): CelValue {
  const found = value instanceof CelMap ? value.entries.get(`s${field}`)?.[1] : undefined
  if (found === undefined) throw new CelError(`no such key: ${field}`)
  return found
}

function textAt(value: CelValue, field: string): string {
  const found = fieldAt(value, field)
  if (typeof found !== 'string') throw new CelError('no such overload')
  return found
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

/** Functions of times that do not read the clock (kyverno/sdk extensions/cel/libs/time). */
const MOMENTS: FunctionTable = {
  functions: {
    'time.truncate': ([moment, step]) => {
      if (!isOf(moment, 'timestamp') || !isOf(step, 'duration')) return undefined
      if (step.nanos <= 0n) return moment
      return new Time('timestamp', moment.nanos - ((moment.nanos + BEFORE_1970) % step.nanos))
    },
    'time.toCron': ([moment]) => {
      if (!isOf(moment, 'timestamp')) return undefined
      const millis = moment.nanos / 1_000_000n + BigInt(moment.zone) * 60_000n
      const day = new Date(Number(millis))
      const parts = [day.getUTCMinutes(), day.getUTCHours(), day.getUTCDate(), day.getUTCMonth() + 1, day.getUTCDay()]
      return parts.join(' ')
    },
  },
}

/** CEL functions that Kyverno adds for its policies (kyverno/kyverno pkg/cel/compiler/env.go, pkg/cel/policies/vpol/compiler). */
export const kyvernoLibrary = new FunctionLibrary(
  [
    ...[LISTS, TEXTS, URLS, ADDRESSES, QUANTITY, SEMVER_FUNCTIONS, FORMAT_FUNCTIONS, TIMES, OR_VALUE],
    ...[IMAGES, OUTSIDE, NOT_EVALUATED, USERS, TRANSFORMS, MATH, DOCUMENTS, MOMENTS, REGEX],
  ],
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

/** Nanoseconds from Go's zero time to 1970. */
const BEFORE_1970 = 62_135_596_800_000_000_000n

const isOf = (value: unknown, kind: Time['kind']): value is Time => value instanceof Time && value.kind === kind
