import { createHash } from 'node:crypto'
import { CelBudgetError, CelError, CelUnknownError } from '../../expr/expression.ts'
import { findMatches } from '../../expr/libraries/texts.ts'
import {
  argument,
  type ContextValue,
  type Fields,
  isFields,
  isList,
  type KyvernoFunctions,
  known,
  matchesWildcard,
  NotEvaluatedError,
  numberOf,
  ofTexts,
  RuleError,
  type RuleSteps,
  textAt,
  textOf,
  valueAt,
} from './values.ts'

const SCALAR = ['string', 'number'] as const
const TEXT = ['string'] as const

const MAX_TEXT = 1_000_000

const hash = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

/** No valid reference is longer. */
const MAX_REFERENCE = 1_000

const DEFAULT_REGISTRY = 'docker.io'

const LONGEST_NAME = 255
const DOMAIN = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::\d+)?$/
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$/

/** Text functions: two from JMESPath, the others from Kyverno. */
export const TEXT_FUNCTIONS: KyvernoFunctions = {
  starts_with: ofTexts(2, (text, start) => text.startsWith(start)),
  ends_with: ofTexts(2, (text, end) => text.endsWith(end)),
  compare: ofTexts(2, (a, b) => (a < b ? -1 : a > b ? 1 : 0)),
  equal_fold: ofTexts(2, (a, b) => a.toLowerCase() === b.toLowerCase() || a.toUpperCase() === b.toUpperCase()),
  replace: {
    takes: [TEXT, TEXT, TEXT, ['number']],
    call: args => replaced(textOf(args, 0), textOf(args, 1), textOf(args, 2), Math.trunc(numberOf(args, 3))),
  },
  replace_all: ofTexts(3, (text, from, to) => replaced(text, from, to, -1)),
  to_upper: ofTexts(1, text => mapped(text, one => one.toUpperCase())),
  to_lower: ofTexts(1, text => mapped(text, one => one.toLowerCase())),
  trim: ofTexts(2, trimmed),
  trim_prefix: ofTexts(2, (text, prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  split: ofTexts(2, (text, by) => (by === '' ? [...text] : text.split(by))),
  regex_match: {
    takes: [TEXT, SCALAR],
    call: (args, steps) => findsPattern(textOf(args, 0), plainText(argument(args, 1)), steps),
  },
  regex_replace_all: {
    takes: [TEXT, SCALAR, SCALAR],
    call: (args, steps) => {
      const to = plainText(argument(args, 2))
      if (to.includes('$')) throw new NotEvaluatedError('regex_replace_all() with groups in the replacement')
      return replacePattern(textOf(args, 0), plainText(argument(args, 1)), to, steps)
    },
  },
  regex_replace_all_literal: {
    takes: [TEXT, SCALAR, SCALAR],
    call: (args, steps) =>
      replacePattern(textOf(args, 0), plainText(argument(args, 1)), plainText(argument(args, 2)), steps),
  },
  pattern_match: {
    takes: [TEXT, SCALAR],
    call: (args, steps) => {
      const [pattern, text] = [textOf(args, 0), plainText(argument(args, 1))]
      steps.spend((pattern.length * text.length) / 100)
      return matchesWildcard(pattern, text)
    },
  },
  to_boolean: ofTexts(1, text => {
    const lower = text.toLowerCase()
    if (lower !== 'true' && lower !== 'false') throw new RuleError('to_boolean: neither true nor false')
    return lower === 'true'
  }),
  base64_decode: ofTexts(1, decoded),
  base64_encode: ofTexts(1, text => Buffer.from(text).toString('base64')),
  truncate: {
    takes: [TEXT, ['number']],
    call: args => [...textOf(args, 0)].slice(0, Math.max(0, Math.trunc(numberOf(args, 1)))).join(''),
  },
  sha256: ofTexts(1, text => hash('sha256', text)),
  sha1: ofTexts(1, text => hash('sha1', text)),
  md5: ofTexts(1, text => hash('md5', text)),
  image_normalize: ofTexts(1, text => imageText(imageInfo(text))),
}

/** Go maps each character to one character, and keeps it where the mapping would yield several. */
function mapped(text: string, to: (one: string) => string): string {
  return [...text].map(one => ([...to(one)].length === 1 ? to(one) : one)).join('')
}

function replaced(text: string, from: string, to: string, most: number): string {
  const parts = from === '' ? [...text] : text.split(from)
  const times = from === '' ? parts.length + 1 : parts.length - 1
  const count = most < 0 ? times : Math.min(times, most)
  if (text.length + count * to.length > MAX_TEXT) {
    throw new NotEvaluatedError(`a text of more than ${MAX_TEXT} characters`)
  }
  if (from === '') {
    const all = parts.map((part, index) => (index < count ? to + part : part)).join('')
    return count > parts.length ? all + to : all
  }
  return parts.map((part, index) => (index === 0 ? part : (index <= count ? to : from) + part)).join('')
}

function trimmed(text: string, set: string): string {
  const chars = [...text]
  const isCut = (one: string | undefined) => one !== undefined && set.includes(one)
  let [from, to] = [0, chars.length]
  while (from < to && isCut(chars[from])) from++
  while (to > from && isCut(chars[to - 1])) to--
  return chars.slice(from, to).join('')
}

function decoded(text: string): string {
  const bare = text.replace(/[\r\n]/g, '')
  if (bare.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(bare)) throw new RuleError('illegal base64 data')
  const bytes = Buffer.from(bare, 'base64')
  const read = bytes.toString()
  if (!Buffer.from(read).equals(bytes)) throw new NotEvaluatedError('base64_decode() of bytes that are not UTF-8 text')
  return read
}

/** A scalar as the text that Kyverno's functions use; numbers are rounded to 32-bit floats. */
export function plainText(value: ContextValue): string {
  const plain = known(value)
  if (typeof plain === 'string' || typeof plain === 'boolean') return String(plain)
  if (typeof plain !== 'number') throw new RuleError('a string or a number is expected')
  const rounded = Math.fround(plain)
  let text = String(rounded)
  for (let digits = 1; digits <= 17; digits++) {
    text = String(Number(rounded.toPrecision(digits)))
    if (Math.fround(Number(text)) === rounded) break
  }
  if (text.includes('e')) throw new NotEvaluatedError(`the number ${text} as a string`)
  return text
}

/** Whether a Go regular expression matches anywhere in a text. */
function findsPattern(pattern: string, text: string, steps: RuleSteps): boolean {
  return rangesOf(pattern, text, 1, steps).length > 0
}

/** Replaces all matches of a Go regular expression. */
function replacePattern(pattern: string, text: string, to: string, steps: RuleSteps): string {
  let [made, last] = ['', 0]
  for (const { from, to: end } of rangesOf(pattern, text, Number.POSITIVE_INFINITY, steps)) {
    made += text.slice(last, from) + to
    last = end
    steps.spend(1 + to.length / 100)
  }
  return made + text.slice(last)
}

function rangesOf(pattern: string, text: string, limit: number, steps: RuleSteps) {
  try {
    return findMatches(pattern, text, limit, count => steps.spend(count / 10))
  } catch (error) {
    if (error instanceof CelError) throw new RuleError(error.message)
    if (error instanceof CelUnknownError || error instanceof CelBudgetError) throw new NotEvaluatedError(error.message)
    throw error
  }
}

/** What Kyverno derives from an image reference (pkg/utils/image). */
interface ImageInfo {
  readonly registry: string
  readonly path: string
  readonly name: string
  readonly tag: string
  readonly digest: string
}

/** Parses an image reference (github.com/distribution/reference) and adds the default registry. */
export function imageInfo(image: string): ImageInfo {
  const bad = new RuleError(`bad image: ${image.slice(0, 200)}`)
  if (image.length > MAX_REFERENCE) throw bad
  const full = isWithoutRegistry(image) ? `${DEFAULT_REGISTRY}/${image}` : image
  const [, rest = '', digest = ''] = /^([^@]*)(?:@(.*))?$/s.exec(full) ?? []
  const [, named = '', tag = ''] = /^(.*?)(?::([^:/]*))?$/s.exec(rest) ?? []
  const slash = named.indexOf('/')
  const [registry, path] = [named.slice(0, slash), named.slice(slash + 1)]
  const isValid =
    slash > 0 &&
    named.length <= LONGEST_NAME &&
    DOMAIN.test(registry) &&
    path.split('/').every(part => COMPONENT.test(part)) &&
    (tag === '' ? !rest.endsWith(':') : TAG.test(tag)) &&
    (digest === '' ? !full.endsWith('@') : DIGEST.test(digest))
  if (!isValid) throw bad
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { registry, path, name, tag: tag === '' && digest === '' ? 'latest' : tag, digest }
}

export function imageText({ registry, path, tag, digest }: ImageInfo): string {
  return `${registry}/${path}${digest === '' ? `:${tag}` : `@${digest}`}`
}

function isWithoutRegistry(image: string): boolean {
  const slash = image.indexOf('/')
  const first = image.slice(0, slash)
  return slash < 0 || (!/[.:]/.test(first) && first !== 'localhost' && first.toLowerCase() === first)
}

const SPECS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', ['spec']],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
  ...['DaemonSet', 'Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet', 'Job'].map(
    (kind): [string, string[]] => [kind, ['spec', 'template', 'spec']],
  ),
])

/** `images`: the images of an object by container list and container name; undefined if it has no containers. */
export function imagesOf(object: ContextValue): Fields | undefined {
  const spec = SPECS.get(textAt(object, ['kind']))
  if (!spec) return undefined
  const found = new Map<string, ContextValue>()
  for (const kind of ['initContainers', 'containers', 'ephemeralContainers']) {
    const list = known(valueAt(object, [...spec, kind]) ?? null)
    const images = new Map<string, ContextValue>()
    for (const [index, container] of (isList(list) ? list : []).entries()) {
      if (!isFields(known(container))) throw new RuleError('invalid image config')
      const image = textAt(container, ['image'])
      if (image.trim() === '') continue
      const pointer = `/${[...spec, kind, String(index)].join('/')}/image`
      images.set(textAt(container, ['name']), fieldsOf(imageInfo(image), pointer))
    }
    if (images.size > 0) found.set(kind, images)
  }
  return found.size > 0 ? found : undefined
}

function fieldsOf(info: ImageInfo, pointer: string): Fields {
  const { registry, path, name, tag, digest } = info
  const reference = imageText(info)
  const all = { registry, name, path, tag, digest, reference, referenceWithTag: `${registry}/${path}:${tag}` }
  const given = Object.entries(all).filter(([, text]) => text !== '')
  return new Map<string, ContextValue>([...given, ['jsonPointer', pointer]])
}
